import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/**
 * Bun's executable for this Linux from the npm package `bun`, or null.
 *
 * The package's install script moves it to `bun/bin/bun.exe`; where install scripts are blocked that is a stub, and the
 * executable stays in the platform's own package.
 */
export function findBunBinary(architecture: string): string | null {
  const require = createRequire(import.meta.url);
  const bunPackage = resolved(require, "bun/package.json");
  if (bunPackage === null) return null;
  const fromBun = createRequire(bunPackage);
  const platformPackages = bunPlatformPackages(architecture, usesMusl(architecture)).map((name) =>
    resolved(fromBun, `${name}/package.json`),
  );
  const candidates = [
    join(dirname(bunPackage), "bin", "bun.exe"),
    ...platformPackages.filter((path) => path !== null).map((path) => join(dirname(path), "bin", "bun")),
  ];
  return candidates.find(isElf) ?? null;
}

/** Names of the packages that may hold it, the host's own C library first. */
export function bunPlatformPackages(architecture: string, musl: boolean): readonly string[] {
  const name = `@oven/bun-linux-${architecture === "arm64" ? "aarch64" : architecture}`;
  return musl ? [`${name}-musl`, name] : [name, `${name}-musl`];
}

function usesMusl(architecture: string): boolean {
  const cpu = architecture === "arm64" ? "aarch64" : "x86_64";
  return existsSync(`/lib/ld-musl-${cpu}.so.1`) && !existsSync("/lib64/ld-linux-x86-64.so.2");
}

function resolved(resolver: NodeJS.Require, specifier: string): string | null {
  try {
    return resolver.resolve(specifier);
  } catch {
    // Not installed.
    return null;
  }
}

function isElf(path: string): boolean {
  if (!existsSync(path)) return false;
  const descriptor = openSync(path, "r");
  try {
    const magic = Buffer.alloc(4);
    readSync(descriptor, magic);
    return magic.equals(Buffer.from("\x7fELF"));
  } finally {
    closeSync(descriptor);
  }
}
