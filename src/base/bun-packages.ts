import { existsSync } from "node:fs";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { throwIfCancelled } from "./abort.ts";
import { toolCommand } from "./shell-words.ts";

/** The Bun that Glovebox fetches, and builds images with. */
export const bunVersion = "1.4.5";

/** The label that says which Bun is in an image. */
export const bunLabel = "glovebox.bun";

/** System, processor and C library, as far as Bun has a package of its own for them: `@oven/bun-TARGET`. */
export type BunTarget = `linux-${"x64" | "aarch64"}${"" | "-musl"}` | `${"darwin" | "windows"}-${"x64" | "aarch64"}`;

/** Hashes of the registry's packages, as `package-lock.json` has them. */
export const bunIntegrity: Readonly<Record<BunTarget, string>> = {
  "linux-x64": "sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==",
  "linux-x64-musl": "sha512-10QoW/YfTgnURaGEaHpJCiXjLI2e5iTtfVDaA5JKcyUzaa1cq6cVUY9/Uq5XkYzvtRjHLRe9Oj/lTDIQcxy8HQ==",
  "linux-aarch64": "sha512-4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==",
  "linux-aarch64-musl":
    "sha512-XCNc+WvvMAdNNb+OWTogpy+N9wm62fkVeEVLb6how0RZhW5LPi6c7BlkeVCuWps7XjEl2saFpHFa20/1E+PAHg==",
  "darwin-x64": "sha512-qkLPMGHZM9NI6CeHTWwVezzmlo6cC4Ta7yUAjYIWXS366qQcOlcp75t2uZyiuVRBMPS0h9qE0tCcvCHGaFqjJg==",
  "darwin-aarch64": "sha512-4MIFXHmctH2EhAxLXm2/qxNtv17dFtLJylvaOCsrgq6KSqHTs6eW5YSrJjRbJxYUJaR901fsN8JfZOa+CsWpWQ==",
  "windows-x64": "sha512-FNvply651vcE/GHgNWz6mZvhmkwBuu8Hw54oNzA+CQog+HW+542rXQmZqNHRkFxazD9L3xi+iTtvO3engAgJfw==",
  "windows-aarch64": "sha512-MiPFZnBNDnBXgr1oONc5pizC4fOLjnIOfNkYdFEnWzLmoFTg86naZIG3SvS7d/GglpQSAnCKMAzSjI/TAckiRw==",
};

/** Whether Bun has a package of that name. */
export function isBunTarget(target: string): target is BunTarget {
  return Object.hasOwn(bunIntegrity, target);
}

/** The target of this machine; null where there is no Bun for it. Pure. */
export function bunTarget(platform: string, architecture: string, libc: "glibc" | "musl"): BunTarget | null {
  const system = platform === "win32" ? "windows" : platform;
  const cpu = architecture === "arm64" ? "aarch64" : architecture;
  const target = `${system}-${cpu}${platform === "linux" && libc === "musl" ? "-musl" : ""}`;
  return isBunTarget(target) ? target : null;
}

/** Whether programs of this machine are made for musl. */
export function usesMusl(architecture: string): boolean {
  const cpu = architecture === "arm64" ? "aarch64" : "x86_64";
  return existsSync(`/lib/ld-musl-${cpu}.so.1`) && !existsSync("/lib64/ld-linux-x86-64.so.2");
}

/** The target of this machine; null where there is no Bun for it. */
export function bunTargetHere(host: { readonly platform: string; readonly architecture: string }): BunTarget | null {
  return bunTarget(host.platform, host.architecture, usesMusl(host.architecture) ? "musl" : "glibc");
}

export interface FetchBunOptions {
  readonly temporaryDirectory: string;
  readonly platform: NodeJS.Platform;
  /** The host's own environment: it may set npm up. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folder with archives that were imported; one of them is taken before the registry is asked. */
  readonly bunArchives?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Name of an archive in the folder of those that were imported. */
export function keptBunArchive(target: BunTarget): string {
  return `bun-${bunVersion}-${target}.tgz`;
}

const fetchWithinMs = 300_000;
/** Four times the size of the largest. */
const maxArchiveBytes = 200 * 1024 * 1024;

/**
 * The archive of Bun's package, fetched by the host's npm, which knows the registry, its password and the way there; the
 * bytes are believed only by their pinned hash.
 * @throws Error whose message is the reason, CANCELLED
 */
export async function fetchBun(target: BunTarget, options: FetchBunOptions): Promise<Uint8Array> {
  const { temporaryDirectory, platform, environment, bunArchives, signal } = options;
  const kept = bunArchives === undefined ? null : await readKept(path.join(bunArchives, keptBunArchive(target)));
  if (kept !== null && hashOf(kept) === bunIntegrity[target]) return kept;
  const name = `@oven/bun-${target}@${bunVersion}`;
  const folder = await mkdtemp(path.join(temporaryDirectory, "glovebox-bun-"));
  try {
    // Flags of ours only, so that no project's settings have a part in it.
    const words = ["pack", name, "--pack-destination", ".", "--ignore-scripts", "--silent"];
    await promisify(execFile)(...toolCommand("npm", words, platform), {
      cwd: folder,
      env: environment,
      timeout: fetchWithinMs,
      maxBuffer: maxArchiveBytes,
      ...(signal === undefined ? {} : { signal }),
    });
    const [file = ""] = await readdir(folder);
    const archive = await readFile(path.join(folder, file));
    if (hashOf(archive) === bunIntegrity[target]) return archive;
    throw new Error(`the registry's ${name} has a different hash than the pinned one`);
  } catch (cause) {
    throwIfCancelled(signal);
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const reason = missing ? "npm was not found on this machine" : `${name} could not be fetched from the npm registry`;
    throw new Error(reason, { cause });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** As the registry writes it. */
export function hashOf(archive: Uint8Array): string {
  return `sha512-${createHash("sha512").update(archive).digest("base64")}`;
}

async function readKept(file: string): Promise<Uint8Array | null> {
  try {
    const { size } = await stat(file);
    return size > maxArchiveBytes ? null : await readFile(file);
  } catch {
    return null;
  }
}
