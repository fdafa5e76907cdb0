import { createHash } from "node:crypto";
import { open, readdir, writeFile, rename, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { bunVersion, bunIntegrity, isBunTarget, hashOf, keptBunArchive, type BunTarget } from "../base/bun-packages.ts";
import { openOwnFolder, assertOwnFolder } from "../base/own-folder.ts";
import type { Engine } from "../engines/engine.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import {
  manifestName,
  maxManifestBytes,
  parseManifest,
  unusable,
  type PreparedFile,
  type PreparedImage,
} from "./manifest.ts";
import { constants } from "node:fs";
import { createId } from "../base/id.ts";
import { checkImageReference } from "../policy/image-reference.ts";
import { textBytes } from "../base/streams/chunks.ts";
import { tarEnd, tarHeader, tarPadding, type TarEntry } from "../base/tar.ts";
import { decodeTar } from "../sandbox/files/tree-archive.ts";

/** What is taken to another machine. */
interface Carried {
  readonly images: readonly { readonly engine: Engine; readonly reference: string }[];
  /** The archive of Bun's package for a machine like this one; null: none. */
  readonly bun: { readonly target: BunTarget; readonly archive: () => Promise<Uint8Array> } | null;
}

interface ExportOptions {
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

interface ImportOptions {
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

/** Size of the small files that name the images of an archive. */
const maxListBytes = 1_048_576;
const lists = new Set(["manifest.json", "repositories", "index.json"]);
const id = "[0-9a-f]{64}";
/** Everything that engines write: anything else could be another name of a list, or a way around one. */
const usual = {
  file: new RegExp(
    `^(?:manifest\\.json|repositories|index\\.json|oci-layout|${id}(?:\\.json|\\.tar|/VERSION|/json|/layer\\.tar)|blobs/[a-z0-9]+/[0-9a-f]{32,128})$`,
  ),
  folder: new RegExp(`^(?:|${id}|blobs(?:/[a-z0-9]+)?)$`),
  link: new RegExp(`^${id}/(?:VERSION|json|layer\\.tar)$`),
};

/**
 * Reads an archive of images to its end and refuses one that would name another image than the reference: loading it
 * would put that in place of what the engine has.
 * @throws INVALID_REQUEST
 */
export async function assertNames(archive: AsyncIterable<Uint8Array>, reference: string): Promise<void> {
  const names: string[] = [];
  for await (const { entry, chunks } of partsOf(archive, reference)) {
    if (entry.kind !== "file" || !lists.has(entry.path)) continue;
    if (entry.sizeBytes > maxListBytes) throw unusable(`${entry.path} of an image is too large.`);
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(new Uint8Array(chunk));
    names.push(...namesOf(entry.path, parseList(entry.path, Buffer.concat(parts).toString("utf8"))));
  }
  const others = names.filter((name) => plainName(name) !== plainName(reference));
  if (names.length > 0 && others.length === 0) return;
  throw unusable(
    names.length === 0
      ? `what should be image ${reference} names none.`
      : `what should be image ${reference} names ${JSON.stringify(others[0]?.slice(0, 80))} too.`,
  );
}

/**
 * The same archive written anew, so that an engine reads what was read here, however it takes a header that can be
 * taken in two ways.
 * @throws INVALID_REQUEST
 */
export async function* plainArchive(
  archive: AsyncIterable<Uint8Array>,
  reference: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { entry, chunks } of partsOf(archive, reference)) {
    yield tarHeader(entry);
    if (entry.kind !== "file") continue;
    yield* chunks;
    yield tarPadding(entry.sizeBytes);
  }
  yield tarEnd;
}

interface ArchivePart {
  readonly entry: TarEntry;
  readonly chunks: AsyncIterable<Uint8Array>;
}

async function* partsOf(
  archive: AsyncIterable<Uint8Array>,
  reference: string,
): AsyncGenerator<ArchivePart, void, undefined> {
  try {
    for await (const entry of decodeTar(archive)) {
      const { kind, path } = entry;
      if ((kind !== "file" && kind !== "folder" && kind !== "link") || !usual[kind].test(path)) {
        const part = JSON.stringify(path.slice(0, 80));
        throw unusable(`what should be image ${reference} has a part that no engine writes (${part}).`);
      }
      yield { entry, chunks: kind === "file" ? entry.chunks : textBytes("") };
    }
  } catch (error) {
    // From the decoder: not an archive, or a path that is not text.
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    throw unusable(`what should be image ${reference} is no archive.`);
  }
}

/** Refuses what an engine could read differently: duplicate keys, also if they differ only in case. */
function parseList(list: string, text: string): unknown {
  let keys = 0;
  try {
    const value: unknown = JSON.parse(text, (_, each: unknown) => {
      if (typeof each === "object" && each !== null && !Array.isArray(each))
        keys += new Set(Object.keys(each).map(fold)).size;
      return each;
    });
    if (countKeys(text) === keys) return value;
  } catch {
    // No JSON.
  }
  throw unusable(`${list} of an image is not what an engine writes.`);
}

/** How many keys a valid JSON text has, equal ones too: only a key is followed by a colon. */
function countKeys(text: string): number {
  let keys = 0;
  for (let start = text.indexOf('"'); start !== -1;) {
    let end = start + 1;
    while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
    let next = end + 1;
    while (/\s/.test(text.charAt(next))) next += 1;
    if (text[next] === ":") keys += 1;
    start = text.indexOf('"', end + 1);
  }
  return keys;
}

/** The same for keys that a parser may treat as equal. */
function fold(key: string): string {
  return key.toLowerCase().toUpperCase();
}

/** Names in one of the lists; entries without a name are skipped. */
function namesOf(list: string, value: unknown): readonly string[] {
  if (list === "manifest.json") return rowsOf(value).flatMap((row) => textsOf(valueOf(row, "RepoTags")));
  if (list === "index.json") {
    return rowsOf(valueOf(recordOf(value), "manifests")).flatMap((row) => {
      const annotations = recordOf(valueOf(row, "annotations"));
      return textsOf([annotations["io.containerd.image.name"] || annotations["org.opencontainers.image.ref.name"]]);
    });
  }
  return Object.entries(recordOf(value)).flatMap(([name, tags]) =>
    Object.keys(recordOf(tags)).map((tag) => `${name}:${tag}`),
  );
}

/** By its key in any case, as engines read it. */
function valueOf(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.entries(record).find(([each]) => fold(each) === fold(key))?.[1];
}

function rowsOf(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** Engines write the same name with the default registry, with this machine as one, and without any. */
function plainName(reference: string): string {
  const name = reference.replace(/^(?:docker\.io\/(?:library\/)?|localhost\/)/, "");
  return /[:@]/.test(name.slice(name.lastIndexOf("/") + 1)) ? name : `${name}:latest`;
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
