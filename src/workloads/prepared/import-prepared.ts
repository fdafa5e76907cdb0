import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, writeFile, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { bunIntegrity, bunVersion, isBunTarget } from "../../base/bun/bun-packages.ts";
import { hashOf, keptBunArchive } from "../../base/bun/fetch-bun.ts";
import { createId } from "../../base/id.ts";
import { assertOwnFolder, openOwnFolder } from "../../base/own-folder/own-folder.ts";
import type { Engine } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { checkImageReference } from "../../policy/image-reference.ts";
import { assertNames, plainArchive } from "./archive-tags.ts";
import {
  manifestName,
  maxManifestBytes,
  parseManifest,
  unusable,
  type PreparedFile,
  type PreparedImage,
} from "./manifest.ts";

export interface ImportOptions {
  readonly folder: string;
  readonly uid: number | null;
  /** Where this user's archive of Bun is kept. */
  readonly bunFolder: string;
  /** The engine that gets the images; null: none of them. @throws when there is none */
  readonly engine: (() => Promise<Engine>) | null;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (message: string) => void;
}

/** Bytes of a file that are read at once. */
const pieceBytes = 1_048_576;

/**
 * Takes over what `exportPrepared` has written: each file is this user's, is what the list says by size and SHA-256, and
 * names no other image, before an engine sees any of it. Bun counts by the hash that is pinned. Resolves to what it took.
 * @throws INVALID_REQUEST for a folder that is not whole or says something else, PERMISSION_DENIED for another user's
 */
export async function importPrepared(options: ImportOptions): Promise<readonly PreparedFile[]> {
  const { folder, uid, onProgress } = options;
  const rules = { what: "the folder to import", remedy: "copy it as this user", uid, mode: 0o700, maxMode: 0o755 };
  await assertOwnFolder(folder, rules).catch((error: unknown) => {
    throw error instanceof GloveboxError ? error : unusable("it cannot be read.");
  });
  await using list = await openFile(folder, manifestName, uid);
  const { size } = await list.stat();
  if (size > maxManifestBytes) throw unusable(`${manifestName} is too large.`);
  const { files } = parseManifest(await list.readFile("utf8"));
  const engine = options.engine === null || !files.some(isImage) ? null : await options.engine();
  const wanted = files.filter((row) => row.kind === "bun" || engine !== null);
  for (const row of wanted) {
    onProgress(`Checking ${row.file}`);
    await using handle = await openFile(folder, row.file, uid);
    if ((await handle.stat()).size !== row.size_bytes) throw unusable(`${row.file} has another size than it had.`);
    if (row.kind === "bun") await takeBun(handle, row, options);
    else if (engine !== null) await takeImage(handle, row, { ...options, engine });
  }
  return wanted;
}

function isImage(row: PreparedFile): row is PreparedImage {
  return row.kind === "image";
}

/** A plain file of the folder itself, which nobody else can have written. */
async function openFile(folder: string, name: string, uid: number | null): Promise<FileHandle> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = await open(path.join(folder, name), flags).catch((cause: unknown) => {
    throw unusable(`${name} cannot be read (${(cause as NodeJS.ErrnoException).code ?? "no file"}).`);
  });
  const stats = await handle.stat();
  const isOwn = uid === null || (stats.uid === uid && (stats.mode & 0o022) === 0);
  if (stats.isFile() && isOwn) return handle;
  await handle.close();
  throw unusable(stats.isFile() ? `${name} is another user's, or others may change it.` : `${name} is no file.`);
}

async function takeImage(
  handle: FileHandle,
  row: PreparedImage,
  { engine, signal, onProgress }: Pick<ImportOptions, "signal" | "onProgress"> & { readonly engine: Engine },
): Promise<void> {
  const reference = checkImageReference(row.reference, "reference");
  if (engine.images.load === undefined) {
    throw new GloveboxError("UNSUPPORTED", `Engine ${engine.name} takes no images from a folder.`, {
      suggestion: "Name another engine, or the embedded one for Bun alone.",
      context: { engine: engine.name },
    });
  }
  const hash = createHash("sha256");
  const hashed = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of pieces(handle, row.size_bytes)) {
      hash.update(chunk);
      yield chunk;
    }
  };
  await assertNames(hashed(), reference);
  if (hash.digest("hex") !== row.sha256) throw unusable(`${row.file} has another SHA-256 than it had.`);
  onProgress(`Loading ${reference} into ${engine.name}`);
  await engine.images.load(reference, plainArchive(pieces(handle, row.size_bytes), reference), { signal });
  // Another engine may write the image's own description differently.
  if (engine.name !== row.engine) return;
  if ((await engine.images.identity(reference, { signal })) === row.identity) return;
  throw unusable(`${reference} is another image than the one that was exported.`);
}

/** With its position, so that the same open file is read twice. */
async function* pieces(handle: FileHandle, sizeBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < sizeBytes;) {
    const piece = Buffer.alloc(Math.min(pieceBytes, sizeBytes - at));
    const { bytesRead } = await handle.read(piece, 0, piece.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

async function takeBun(
  handle: FileHandle,
  row: Extract<PreparedFile, { kind: "bun" }>,
  { bunFolder, uid }: ImportOptions,
): Promise<void> {
  const { target, bun_version: version, file } = row;
  if (version !== bunVersion || !isBunTarget(target)) {
    throw unusable(`${file} is not Bun ${bunVersion}, which this Glovebox is made for.`);
  }
  if (row.size_bytes > 200 * pieceBytes) throw unusable(`${file} is too large.`);
  const archive = await handle.readFile();
  if (hashOf(archive) !== bunIntegrity[target]) throw unusable(`${file} has a different hash than the pinned one.`);
  const rules = { what: "its folder for Bun", remedy: "set XDG_STATE_HOME", uid, mode: 0o700 };
  const folder = await openOwnFolder(bunFolder, rules);
  const beside = path.join(folder, `.${createId("bun")}`);
  await writeFile(beside, archive, { mode: 0o600 });
  await rename(beside, path.join(folder, keptBunArchive(target)));
}
