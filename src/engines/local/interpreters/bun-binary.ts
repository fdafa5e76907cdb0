import { usesMusl } from "../../../base/bun/bun-here.ts";
import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Systems for which Bun is available. */
export type BunPlatform = "linux" | "darwin" | "win32";

/**
 * Bun's executable for this machine from the npm package `bun` beside Glovebox, or null.
 *
 * The package's install script moves it to `bun/bin/bun.exe`; where install scripts are blocked that is a stub, and the
 * executable stays in the platform's own package.
 */
export function findBunBinary(architecture: string, platform: BunPlatform = "linux"): string | null {
  const require = createRequire(import.meta.url);
  const bunPackage = resolved(require, "bun/package.json");
  if (bunPackage === null) return null;
  const fromBun = createRequire(bunPackage);
  const names = bunPlatformPackages(architecture, { platform, musl: platform === "linux" && usesMusl(architecture) });
  const platformPackages = names.map((name) => resolved(fromBun, `${name}/package.json`));
  const file = platform === "win32" ? "bun.exe" : "bun";
  const candidates = [
    join(dirname(bunPackage), "bin", "bun.exe"),
    ...platformPackages.filter((path) => path !== null).map((path) => join(dirname(path), "bin", file)),
  ];
  return candidates.find((path) => isExecutable(path, platform)) ?? null;
}

/** Names of the packages that may hold it, the host's own C library first. */
export function bunPlatformPackages(
  architecture: string,
  { platform = "linux", musl }: { readonly platform?: BunPlatform; readonly musl: boolean },
): readonly string[] {
  const system = platform === "win32" ? "windows" : platform;
  const name = `@oven/bun-${system}-${architecture === "arm64" ? "aarch64" : architecture}`;
  if (platform !== "linux") return [name];
  return musl ? [`${name}-musl`, name] : [name, `${name}-musl`];
}

function resolved(resolver: NodeJS.Require, specifier: string): string | null {
  try {
    return resolver.resolve(specifier);
  } catch {
    // Not installed.
    return null;
  }
}

/** How executables begin; the stub is a text. */
const beginnings: Readonly<Record<BunPlatform, string>> = {
  linux: "7f454c46",
  darwin: "cffaedfe",
  win32: "4d5a",
};

/** Whether it is a program of that system, and not a text. */
export function isExecutable(path: string, platform: BunPlatform): boolean {
  if (!existsSync(path)) return false;
  const descriptor = openSync(path, "r");
  try {
    const magic = Buffer.alloc(4);
    readSync(descriptor, magic);
    return magic.toString("hex").startsWith(beginnings[platform]);
  } finally {
    closeSync(descriptor);
  }
}
