import { execFile } from "node:child_process";
import { existsSync, readFileSync, realpathSync, closeSync, openSync, readSync } from "node:fs";
import { chmod, lstat, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import path, { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { untilCancelled } from "../../base/abort.ts";
import { bunTargetHere, usesMusl, bunVersion, type BunTarget } from "../../base/bun-packages.ts";
import { openOwnFolder } from "../../base/own-folder.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { createRequire } from "node:module";

/** Systems for which Bun is available. */
type BunPlatform = "linux" | "darwin" | "win32";

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
function isExecutable(path: string, platform: BunPlatform): boolean {
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

/** What decides which Bun the embedded engine uses. */
export interface HostBunOptions {
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  readonly uid: number | null;
  /** `GLOVEBOX_BUN` and `PATH` are read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where one that is fetched is kept: this user's own, for root one that other users can look into. Never evicted. */
  readonly bunFolder: string;
  /** The archive of Bun's package, its hash checked. @throws Error whose message is the reason */
  readonly fetchBun: (target: BunTarget) => Promise<Uint8Array>;
}

/** Where a Bun is, or will be. */
export type BunSource = { readonly file: string } | { readonly folder: string };

/** The host's Bun, or the place that it is fetched to when a program first needs it (SPEC RT5). */
export class HostBun {
  /** A file that is there, or a folder of ours with that file once it has been fetched; null when there can be none. */
  readonly source: BunSource | null;
  /** Why there can be none. */
  readonly #problem: string | null;
  readonly #options: HostBunOptions;
  #fetched: Promise<void> | undefined;

  private constructor(options: HostBunOptions, source: BunSource | null, problem: string | null = null) {
    this.source = source;
    this.#problem = problem;
    this.#options = options;
  }

  /**
   * `GLOVEBOX_BUN`; else a Bun of the pinned version on the PATH or beside Glovebox; else the folder for it.
   * @throws ENGINE_UNAVAILABLE when GLOVEBOX_BUN names none
   */
  static async find(options: HostBunOptions): Promise<HostBun> {
    const found = namedBun(options) ?? (await bunOnPath(options)) ?? bunBeside(options);
    if (found !== null) return new HostBun(options, { file: found });
    try {
      return new HostBun(options, { folder: await openBunFolder(options) });
    } catch (error) {
      // Python runs without it.
      return new HostBun(options, null, (error as Error).message.replace(/\.$/, ""));
    }
  }

  /** Its executable, whether it is there yet or not. */
  get path(): string | null {
    if (this.source === null) return null;
    return "file" in this.source ? this.source.file : path.join(this.source.folder, fileName(this.#options.platform));
  }

  /**
   * Makes sure it is there: fetched if necessary, once for all who ask.
   * @throws ENGINE_UNAVAILABLE with the reason, CANCELLED
   */
  async provide(signal?: AbortSignal): Promise<void> {
    if (this.source === null) throw notFetched(this.#problem ?? "", undefined);
    if ("file" in this.source || existsSync(this.path ?? "")) return;
    const { folder } = this.source;
    this.#fetched ??= this.#fetch(folder).finally(() => (this.#fetched = undefined));
    await untilCancelled(this.#fetched, signal);
  }

  async #fetch(folder: string): Promise<void> {
    const { platform, architecture, fetchBun } = this.#options;
    try {
      const target = bunTargetHere({ platform, architecture });
      if (target === null) throw new Error(`there is no Bun for ${platform} on ${architecture}`);
      const name = fileName(platform);
      const program = fileOf(gunzipSync(await fetchBun(target)), `package/bin/${name}`);
      // Written beside its place and then moved, so that it appears as a whole, also for another process that fetches
      // it.
      const beside = await mkdtemp(path.join(folder, ".fetched-"));
      try {
        await writeFile(path.join(beside, name), program);
        await chmod(path.join(beside, name), 0o755);
        await rename(path.join(beside, name), path.join(folder, name));
      } finally {
        await rm(beside, { recursive: true, force: true });
      }
    } catch (cause) {
      throw notFetched((cause as Error).message, cause);
    }
  }
}

const fileName = (platform: string): string => (platform === "win32" ? "bun.exe" : "bun");

function namedBun({ environment, platform }: HostBunOptions): string | null {
  const named = environment["GLOVEBOX_BUN"];
  if (named === undefined || named === "") return null;
  if (path.isAbsolute(named) && isExecutable(named, known(platform))) return named;
  throw new GloveboxError("ENGINE_UNAVAILABLE", `GLOVEBOX_BUN: ${named} is not a program.`, {
    suggestion: `Set GLOVEBOX_BUN to the absolute path of a Bun ${bunVersion}, or leave it unset.`,
    context: { engine: "local" },
  });
}

async function bunOnPath({ environment, platform }: HostBunOptions): Promise<string | null> {
  const folders = (environment["PATH"] ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const links = folders.map((folder) => path.join(folder, fileName(platform))).filter((file) => existsSync(file));
  const file = links.map((link) => realpathSync(link)).find((real) => isExecutable(real, known(platform)));
  if (file === undefined) return null;
  return (versionOfPackage(file) ?? (await versionSaid(file))) === bunVersion ? file : null;
}

/** Bun of npm's `bun` or of a platform's package, whose version is written beside it; null for another. */
function versionOfPackage(file: string): string | null {
  try {
    const manifest = path.join(path.dirname(file), "..", "package.json");
    const { name, version } = JSON.parse(readFileSync(manifest, "utf8")) as { name?: unknown; version?: unknown };
    return typeof version === "string" && /^(?:bun|@oven\/bun-.+)$/.test(String(name)) ? version : null;
  } catch {
    return null;
  }
}

async function versionSaid(file: string): Promise<string | null> {
  const said = await promisify(execFile)(file, ["--version"], { env: {}, timeout: 10_000 }).catch(() => null);
  return said?.stdout.trim() ?? null;
}

/** The npm package `bun`, where a project has it. */
function bunBeside({ architecture, platform }: HostBunOptions): string | null {
  return findBunBinary(architecture, known(platform));
}

function known(platform: NodeJS.Platform): BunPlatform {
  return platform === "win32" || platform === "darwin" ? platform : "linux";
}

/** Only we can write to the folder, and so to the program in it. */
async function openBunFolder({ bunFolder, uid, platform }: HostBunOptions): Promise<string> {
  // Root's sandboxes run as users of their own, who must be able to pass through.
  const rules = { what: "its folder for Bun", remedy: "set GLOVEBOX_BUN", uid, mode: uid === 0 ? 0o755 : 0o700 };
  await openOwnFolder(path.dirname(bunFolder), { ...rules, maxMode: 0o755 });
  const folder = await openOwnFolder(path.join(bunFolder, bunVersion), rules);
  const stats = await lstat(path.join(folder, fileName(platform))).catch(() => null);
  if (stats === null || (stats.isFile() && (uid === null || (stats.uid === uid && (stats.mode & 0o022) === 0)))) {
    return folder;
  }
  throw new GloveboxError(
    "PERMISSION_DENIED",
    "Glovebox does not use the Bun it found, because other users could have changed it.",
    {
      suggestion: "Remove it so that it is downloaded again, or set GLOVEBOX_BUN.",
      context: { reason: "foreign_file" },
    },
  );
}

/** A file of a tar archive, whose bytes are known by their hash. @throws Error when it is not there */
function fileOf(archive: Buffer, name: string): Buffer {
  for (let at = 0; at + 512 <= archive.length;) {
    const text = (from: number, to: number): string =>
      archive.toString("latin1", at + from, at + to).split("\0")[0] ?? "";
    const size = Number.parseInt(text(124, 136), 8) || 0;
    if (text(0, 100) === name) return archive.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error(`the package has no ${name}`);
}

function notFetched(reason: string, cause: unknown): GloveboxError {
  const message = `Bun ${bunVersion}, which sessions and package installations on engine local need, is not on this machine: ${reason}.`;
  return new GloveboxError("ENGINE_UNAVAILABLE", message, {
    suggestion: `Check that \`npm view bun\` works here, set GLOVEBOX_BUN to the path of a Bun ${bunVersion}, or use Docker or Podman.`,
    context: { engine: "local", missing: "bun" },
    cause,
  });
}
