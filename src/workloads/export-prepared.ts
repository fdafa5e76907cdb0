import { createHash } from "node:crypto";
import { open, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { bunVersion, type BunTarget } from "../base/bun-packages.ts";
import { openOwnFolder } from "../base/own-folder.ts";
import type { Engine } from "../engines/engine.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { manifestName, type PreparedFile } from "./manifest.ts";

/** What is taken to another machine. */
export interface Carried {
  readonly images: readonly { readonly engine: Engine; readonly reference: string }[];
  /** The archive of Bun's package for a machine like this one; null: none. */
  readonly bun: { readonly target: BunTarget; readonly archive: () => Promise<Uint8Array> } | null;
}

export interface ExportOptions {
  readonly folder: string;
  readonly uid: number | null;
  /** Version of Glovebox. */
  readonly version: string;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (message: string) => void;
}

/**
 * Writes images and Bun into a folder of this user's, which is made or empty, with the SHA-256 of each; resolves to
 * that of the list itself.
 * @throws INVALID_REQUEST for a folder that holds something, UNSUPPORTED, IMAGE_UNAVAILABLE
 */
export async function exportPrepared(carried: Carried, options: ExportOptions): Promise<readonly PreparedFile[]> {
  const { uid, signal, onProgress } = options;
  const folder = await openFolder(options.folder, uid);
  const files: PreparedFile[] = [];
  for (const [index, { engine, reference }] of carried.images.entries()) {
    onProgress(`Writing ${reference} of ${engine.name}`);
    const file = `image-${index + 1}.tar`;
    const identity = await engine.images.identity(reference, { signal });
    if (engine.images.save === undefined) throw cannotSave(engine.name);
    const written = await write(path.join(folder, file), engine.images.save(reference, { signal }));
    files.push({ file, ...written, kind: "image", reference, engine: engine.name, identity });
  }
  if (carried.bun !== null) {
    const { target, archive } = carried.bun;
    onProgress(`Writing Bun ${bunVersion}`);
    const file = `bun-${target}.tgz`;
    const written = await write(path.join(folder, file), [await archive()]);
    files.push({ file, ...written, kind: "bun", target, bun_version: bunVersion });
  }
  const text = `${JSON.stringify({ version: 1, glovebox: options.version, files }, null, 2)}\n`;
  // Written last: a folder without it is incomplete.
  await writeFile(path.join(folder, manifestName), text, { flag: "wx", mode: 0o600 });
  return files;
}

async function openFolder(given: string, uid: number | null): Promise<string> {
  const rules = { what: "the folder to export to", remedy: "name another one", uid, mode: 0o700, maxMode: 0o755 };
  const folder = await openOwnFolder(given, rules).catch((error: unknown) => {
    if (error instanceof GloveboxError) throw error;
    throw new GloveboxError("INVALID_REQUEST", `The folder to export to cannot be made: ${String(error)}.`, {
      suggestion: "Name a folder that can be written.",
      context: { field: "folder" },
      cause: error,
    });
  });
  if ((await readdir(folder)).length === 0) return folder;
  throw new GloveboxError("INVALID_REQUEST", "The folder to export to is not empty.", {
    suggestion: "Name a new folder, or an empty one.",
    context: { field: "folder" },
  });
}

async function write(
  file: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<{ readonly sha256: string; readonly size_bytes: number }> {
  const hash = createHash("sha256");
  let bytes = 0;
  await using handle = await open(file, "wx", 0o600);
  for await (const chunk of chunks) {
    hash.update(chunk);
    bytes += chunk.length;
    await handle.writeFile(chunk);
  }
  return { sha256: hash.digest("hex"), size_bytes: bytes };
}

function cannotSave(engine: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Images of engine ${engine} cannot be exported.`, {
    suggestion: "Name another engine, or the embedded one for Bun alone.",
    context: { engine },
  });
}
