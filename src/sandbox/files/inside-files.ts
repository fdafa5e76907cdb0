import { posix } from "node:path";
import { throwIfCancelled, Deadline } from "../../base/abort.ts";
import { mebibyte } from "../../base/bytes.ts";
import type { ContainerFiles, FileRecord } from "../../engines/container-files.ts";
import type { CallOptions, Container } from "../../engines/engine.ts";
import { errorCode, GloveboxError, isSandboxLoss } from "../../errors/glovebox-error.ts";
import type {
  FileFacts,
  FileKind,
  FileListing,
  NewTreeEntry,
  SizedContent,
  TreeEntry,
  BatchFile,
  BatchRequest,
  FileContent,
  FileWay,
  FoundEntries,
  ListRequest,
  PackRequest,
  ReadRequest,
  WriteOptions,
  TreeChanges,
} from "./file-way.ts";
import { badAnswer, namesNotUtf8 } from "./file-error.ts";
import { insidePath } from "./inside-path.ts";
import { fileLimits, MoveBounds, treeLimits, type MoveLimits } from "./move-bounds.ts";
import { boundArchive, decodeTar, encodeTar } from "./tree-archive.ts";

/** How many entries are searched for files, how many bytes of them, and for how long. */
const searchLimits = { maxEntries: 50_000, maxBytes: 8 * mebibyte, deadlineMs: 10_000 };
/** How long a batch of files may take. */
const batchMs = 20_000;
/** How many files of a batch are on their way at once, and may be held here. */
const atOnce = 4;
/** What one operation on a whole tree may take. */
const moveLimits = { maxEntries: treeLimits.maxEntries, maxBytes: treeLimits.maxBytes, deadlineMs: treeLimits.maxMs };
/** How many files are removed at once. */
const removedAtOnce = 16;
const nanosecondsPerSecond = 1_000_000_000n;

/**
 * Files moved by operations of the container's supervisor as its programs' user: no link leads out, what a program may not read
 * or write they cannot, and no program is started. All throw what `SandboxFiles` throws.
 */
export class InsideFiles implements FileWay {
  readonly #files: NonNullable<Container["files"]>;

  constructor(files: NonNullable<Container["files"]>) {
    this.#files = files;
  }

  async list(path: string, { depth, maxEntries, signal }: ListRequest): Promise<FileListing> {
    const limits = { levels: depth, maxEntries, deadlineMs: fileLimits.maxMs, signal };
    const { records, isWhole } = await this.#files(insidePath(path)).list("", limits);
    const entries = records.map(factsOf);
    entries.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
    return { entries, isTruncated: !isWhole };
  }

  /** Follows links. */
  async read(path: string, { offsetBytes, maxBytes, signal }: ReadRequest): Promise<FileContent> {
    const { files, name } = this.#at(path);
    const bound = maxBytes < 0 ? treeLimits.maxBytes : maxBytes;
    const limits = { offset: offsetBytes, maxBytes: bound, deadlineMs: treeLimits.maxMs, followsLink: true, signal };
    const { record, bytes } = await files.read(name, limits);
    return { sizeBytes: Number(record.sizeBytes), chunks: bytes };
  }

  /** Follows links; missing folders are made. */
  async write(path: string, { sizeBytes, chunks }: SizedContent, { mode, signal }: WriteOptions): Promise<void> {
    const { files, name } = this.#at(path);
    const limits = { maxBytes: sizeBytes, deadlineMs: treeLimits.maxMs, makesFolders: true, followsLink: true };
    await files.write(name, chunks, { ...limits, mode, signal });
  }

  async findEntries(folder: string, { signal }: CallOptions): Promise<FoundEntries> {
    const limits = { ...searchLimits, levels: "all of its file system", keepsPart: true, signal } as const;
    const { records } = await this.#files(insidePath(folder))
      .list("", limits)
      .catch((error: unknown) => {
        // A program may have removed the folder, or have put something else there.
        if (!isOfPath(error)) throw error;
        return { records: [] };
      });
    const namesOf = (wanted: readonly FileKind[]): readonly Uint8Array[] =>
      records.filter(({ kind }) => wanted.includes(kindOf(kind))).map(({ name }) => name);
    const closedFolders = records.filter(({ isClosed }) => isClosed).map(({ name }) => name);
    return { files: namesOf(["file"]), links: namesOf(["link"]), others: namesOf(["other"]), closedFolders };
  }

  /** One operation a file, some of them at once. */
  async readBatch(folder: string, request: BatchRequest): Promise<readonly BatchFile[]> {
    const { paths, maxFileBytes, maxBytes, signal } = request;
    const files = this.#files(insidePath(folder));
    using late = new Deadline(batchMs);
    const read: BatchFile[] = [];
    let left = maxBytes;
    for (let at = 0; at < paths.length && !late.signal.aborted; at += atOnce) {
      const bound = Math.min(maxFileBytes, left);
      const some = paths.slice(at, at + atOnce).map((path) => readWhole(files, path, bound, signal));
      for (const { sizeBytes, unreadable, bytes } of await Promise.all(some)) {
        const fits = bytes !== null && bytes.length <= left;
        read.push({ sizeBytes, unreadable, bytes: fits ? bytes : null });
        if (fits) left -= bytes.length;
      }
    }
    return read;
  }

  async *readTree(path: string, { signal }: CallOptions): AsyncGenerator<TreeEntry, void, undefined> {
    const request = { limits: treeLimits, signal };
    let isBegun = false;
    try {
      for await (const entry of decodeTar(packed(this.#files(insidePath(path)), "", path, request))) {
        isBegun = true;
        yield entry;
      }
    } catch (error) {
      const { files, name } = this.#at(path);
      // A link that leads to no folder is an entry of its own, as is a file.
      if (isBegun || name === "" || !isNoFolder(error)) throw archiveError(path, error);
      try {
        yield* decodeTar(packed(files, name, path, request));
      } catch (other) {
        throw archiveError(path, other);
      }
    }
  }

  async *pack(folder: string, { maxBytes, signal }: PackRequest): AsyncGenerator<Uint8Array, void, undefined> {
    const limits = { ...treeLimits, maxBytes };
    try {
      yield* packed(this.#files(insidePath(folder)), "", folder, { limits, signal });
    } catch (error) {
      throw archiveError(folder, error);
    }
  }

  async unpack(folder: string, archive: AsyncIterable<Uint8Array>, { signal }: CallOptions): Promise<void> {
    const bounds = new MoveBounds(folder, treeLimits, { signal });
    const pieces = archive[Symbol.asyncIterator]();
    const first: IteratorResult<Uint8Array, unknown> = await pieces.next();
    // The archive of nothing may have no bytes.
    if (first.done === true) return;
    const rest = { [Symbol.asyncIterator]: () => pieces };
    await this.#files(insidePath(folder)).unpack("", counted(first.value, rest, bounds), {
      ...moveLimits,
      clears: true,
      signal,
    });
  }

  async writeTree(
    path: string,
    entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>,
    { signal }: CallOptions,
  ): Promise<void> {
    const limits = { ...moveLimits, makesFolders: true, signal };
    await this.#files(insidePath(path)).unpack("", encodeTar(entries), limits);
  }

  /** New and changed files first, then what is gone. */
  async update(folder: string, { entries, gone, goneFolders }: TreeChanges, { signal }: CallOptions): Promise<void> {
    const { files, name } = this.#at(folder);
    const limits = { ...moveLimits, makesFolders: true, replaces: true, signal };
    await files.unpack(name, encodeTar(entries), limits);
    const remove = (path: string): Promise<void> =>
      files.remove(name === "" ? path : `${name}/${path}`, { signal }).catch((error: unknown) => {
        throwIfCancelled(signal);
        // What a program has put there instead, or has not left empty, stays.
        if (!(error instanceof GloveboxError) || isSandboxLoss(error)) throw error;
      });
    for (let at = 0; at < gone.length; at += removedAtOnce) {
      await Promise.all(gone.slice(at, at + removedAtOnce).map(remove));
    }
    for (const path of goneFolders) await remove(path);
  }

  #at(path: string): { readonly files: ContainerFiles; readonly name: string } {
    const inside = insidePath(path);
    const name = posix.basename(inside);
    const isFolder = name === "" || name === "." || name === "..";
    return { files: this.#files(isFolder ? inside : posix.dirname(inside)), name: isFolder ? "" : name };
  }
}

/** An archive within its limits; `path` is what it is about. */
function packed(
  files: ContainerFiles,
  name: string,
  path: string,
  { limits, signal }: CallOptions & { readonly limits: MoveLimits },
): AsyncGenerator<Uint8Array, void, undefined> {
  const archive = files.pack(name, { ...moveLimits, signal });
  return boundArchive(archive, new MoveBounds(path, limits, { signal }));
}

/** Whether there is no such folder, rather than something wrong with the sandbox. */
function isNoFolder(error: unknown): boolean {
  return error instanceof GloveboxError && ["NOT_FOUND", "INVALID_REQUEST"].includes(error.errorType);
}

function isOfPath(error: unknown): boolean {
  return isNoFolder(error) || (error instanceof GloveboxError && error.errorType === "PERMISSION_DENIED");
}

/** What reading an archive failed with. */
function archiveError(path: string, error: unknown): unknown {
  if (errorCode(error) === "ERR_ENCODING_INVALID_ENCODED_DATA") return namesNotUtf8(path);
  return error instanceof RangeError ? badAnswer(JSON.stringify(path), error.message) : error;
}

/** The archive, whose first piece has been read, with its bytes counted. */
async function* counted(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
  bounds: MoveBounds,
): AsyncGenerator<Uint8Array, void, undefined> {
  bounds.pass(first.length);
  yield first;
  for await (const piece of rest) {
    bounds.pass(piece.length);
    yield piece;
  }
}

/** A file if it has no more than so many bytes. */
async function readWhole(
  files: ContainerFiles,
  path: string,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<BatchFile> {
  try {
    const { record, bytes } = await files.read(path, { maxBytes, deadlineMs: batchMs, signal });
    const sizeBytes = Number(record.sizeBytes);
    const pieces: Uint8Array[] = [];
    if (sizeBytes <= maxBytes) for await (const piece of bytes) pieces.push(piece);
    else await bytes[Symbol.asyncIterator]().return?.();
    return { sizeBytes, unreadable: false, bytes: sizeBytes <= maxBytes ? Buffer.concat(pieces) : null };
  } catch (error) {
    throwIfCancelled(signal);
    if (!(error instanceof GloveboxError) || isSandboxLoss(error)) throw error;
    return { sizeBytes: null, unreadable: error.errorType === "PERMISSION_DENIED", bytes: null };
  }
}

function kindOf(kind: FileRecord["kind"]): FileKind {
  return kind === "file" || kind === "folder" || kind === "link" ? kind : "other";
}

function factsOf({ kind, name, sizeBytes, mode, modifiedNs }: FileRecord): FileFacts {
  const path = name.toString("utf8");
  return {
    path,
    isAddressable: Buffer.from(path).equals(name),
    kind: kindOf(kind),
    sizeBytes: kind === "file" ? Number(sizeBytes) : 0,
    mode,
    modifiedAtMs: Number(modifiedNs / nanosecondsPerSecond) * 1_000,
  };
}
