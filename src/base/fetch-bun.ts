import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { throwIfCancelled } from "./abort.ts";
import { toolCommand } from "./tool-command.ts";
import { bunIntegrity, bunVersion, type BunTarget } from "./bun-packages.ts";

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
