import { constants } from "node:fs";
import { lstat, open, rename, rm, type FileHandle } from "node:fs/promises";
import { throwIfCancelled } from "../../../base/abort.ts";
import { createId } from "../../../base/id.ts";
import { GloveboxError, isSandboxLoss } from "../../../errors/glovebox-error.ts";
import type { CallOptions } from "../../../engines/engine.ts";
import { weakestIsolation } from "../../../policy/isolation.ts";
import type { HostFolder } from "../../copy/host-folder.ts";
import { fileError } from "../file-error.ts";
import type { FileFacts, FileKind, FileListing, NewTreeEntry, SizedContent, TreeEntry } from "../file-facts.ts";
import type {
  BatchFile,
  BatchRequest,
  FileContent,
  FileWay,
  FoundEntries,
  ListRequest,
  PackRequest,
  ReadRequest,
  WriteOptions,
} from "../file-way.ts";
import { collect } from "./collect-entries.ts";
import { fileLimits, maxOpenDepth, MoveBounds, treeLimits, type MoveLimits } from "../move-bounds.ts";
import { onPlace, OpenHostPlace, type HostPlaces } from "./host-place.ts";
import { packHostPlace, readHostPlace, unpackHostPlace, writeHostPlace } from "./host-trees.ts";
import { openFile, openingFlags, piecesOf } from "./own-file.ts";

/** Maximum entries to search for files, and maximum depth. */
const maxFound = 10_000;
const maxFoundDepth = 64;
/** Of one file that is written: nothing else limits what this machine's disk gets, but it may come slowly. */
const writeLimits: MoveLimits = { ...fileLimits, maxMs: treeLimits.maxMs };

/**
 * Files in a sandbox's folders on this machine, for sandboxes in which no program of ours can run. The sandbox's
 * programs may change everything there meanwhile: each folder is held open, no link is followed, opened files are
 * checked to be the sandbox's own, and each call is bounded. All throw what `SandboxFiles` throws.
 */
export class HostFiles implements FileWay {
  readonly #places: HostPlaces;

  constructor(places: HostPlaces) {
    this.#places = places;
  }

  async list(path: string, { depth, maxEntries, signal }: ListRequest): Promise<FileListing> {
    await using place = await OpenHostPlace.open(this.#places, path);
    await using folder = await this.#enterListed(place, path);
    const found: FileFacts[] = [];
    const bounds = bounded(path, signal);
    const isWhole = await onPlace(path, collect(folder, { found, maxEntries, bounds, depth, prefix: "", level: 1 }));
    found.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
    return { entries: found, isTruncated: !isWhole };
  }

  async read(path: string, { offsetBytes, maxBytes, signal }: ReadRequest): Promise<FileContent> {
    await using place = await OpenHostPlace.open(this.#places, path);
    const { handle, facts } = await openFile(place, path);
    const sizeBytes = facts.size;
    const rest = Math.max(sizeBytes - offsetBytes, 0);
    const length = Math.min(maxBytes < 0 ? rest : Math.min(rest, maxBytes), treeLimits.maxBytes);
    const bounds = new MoveBounds(path, treeLimits, { signal });
    return { sizeBytes, chunks: piecesOf(handle, { offsetBytes, length, bounds }) };
  }

  /** As many as the time allows. */
  async findEntries(folder: string, { signal }: CallOptions): Promise<FoundEntries> {
    await using place = await OpenHostPlace.open(this.#places, folder);
    await using top = await this.#enterListed(place, folder);
    const found: FileFacts[] = [];
    const closed: string[] = [];
    const request = { found, closed, maxEntries: maxFound, bounds: bounded(folder, signal), depth: maxFoundDepth };
    await collect(top, { ...request, prefix: "", level: 1 }).catch(unlessLate);
    const pathsOf = (wanted: FileKind): readonly Uint8Array[] =>
      found.filter(({ kind }) => kind === wanted).map(bytesOfPath);
    const closedFolders = closed.map((path) => Buffer.from(path));
    return { files: pathsOf("file"), links: pathsOf("link"), others: pathsOf("other"), closedFolders };
  }

  async readBatch(folder: string, { paths, maxFileBytes, maxBytes, signal }: BatchRequest): Promise<BatchFile[]> {
    const bounds = bounded(folder, signal);
    const files: BatchFile[] = [];
    let left = maxBytes;
    for (const path of paths) {
      const file = await this.#readOne(`${folder}/${path}`, { maxBytes: Math.min(maxFileBytes, left), bounds });
      left -= file.bytes?.length ?? 0;
      files.push(file);
    }
    return files;
  }

  async #readOne(
    path: string,
    { maxBytes, bounds }: { readonly maxBytes: number; readonly bounds: MoveBounds },
  ): Promise<BatchFile> {
    bounds.check();
    try {
      await using place = await OpenHostPlace.open(this.#places, path);
      const { handle, facts } = await openFile(place, path);
      await using file = handle;
      const sizeBytes = facts.size;
      if (sizeBytes > maxBytes) return { sizeBytes, unreadable: false, bytes: null };
      const bytes = Buffer.alloc(sizeBytes);
      const { bytesRead } = await file.read(bytes, 0, sizeBytes, 0);
      return { sizeBytes, unreadable: false, bytes: bytes.subarray(0, bytesRead) };
    } catch (error) {
      if (!(error instanceof GloveboxError) || isSandboxLoss(error)) throw error;
      return { sizeBytes: null, unreadable: error.errorType === "PERMISSION_DENIED", bytes: null };
    }
  }

  async write(path: string, content: SizedContent, { mode, signal }: WriteOptions): Promise<void> {
    await using place = await OpenHostPlace.open(this.#places, path);
    const name = place.names.at(-1);
    if (name === undefined) throw fileError(path, "Is a directory");
    if (place.readOnly) throw fileError(path, "Read-only file system");
    await using folder = await place.enter(place.names.slice(0, -1), { make: true });
    const there = await existing(path, folder, name);
    const temporary = folder.at(`.${createId("glovebox")}`);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | openingFlags;
    const handle = await onPlace(path, open(temporary, flags, 0o600));
    try {
      await onPlace(path, fill(handle, content, new MoveBounds(path, writeLimits, { signal })));
      if (!place.isOwn(await handle.stat())) await handle.chown(place.owner.uid, place.owner.gid);
      await handle.chmod(mode ?? there?.mode ?? 0o644);
      await onPlace(path, rename(temporary, folder.at(name)));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
  }

  async *readTree(path: string, { signal }: CallOptions): AsyncGenerator<TreeEntry, void, undefined> {
    yield* readHostPlace(this.#places, path, { limits: treeLimits, signal });
  }

  async writeTree(
    path: string,
    entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>,
    { signal }: CallOptions,
  ): Promise<void> {
    await writeHostPlace(this.#places, path, entries, { limits: treeLimits, signal });
  }

  /** Deleting files that hostile programs may swap meanwhile would need more than names. */
  async update(folder: string): Promise<void> {
    throw new GloveboxError("UNSUPPORTED", "At isolation preload no tree is kept up to date.", {
      suggestion: "Choose an engine with a higher isolation (`glovebox doctor` lists them).",
      context: { path: folder, isolation: weakestIsolation },
    });
  }

  async *pack(folder: string, request: PackRequest): AsyncGenerator<Uint8Array, void, undefined> {
    yield* packHostPlace(this.#places, folder, request);
  }

  async unpack(folder: string, archive: AsyncIterable<Uint8Array>, options: CallOptions): Promise<void> {
    await unpackHostPlace(this.#places, folder, archive, options);
  }

  async #enterListed(place: OpenHostPlace, path: string): Promise<HostFolder> {
    const name = place.names.at(-1);
    if (name === undefined) return place.enter([]);
    await using parent = await place.enter(place.names.slice(0, -1));
    const facts = await onPlace(path, lstat(parent.at(name)));
    if (facts.isSymbolicLink()) throw fileError(path, "Link not followed");
    return await onPlace(path, parent.enter(name));
  }
}

/** What is at the path to be written; null: nothing. */
async function existing(path: string, folder: HostFolder, name: string): Promise<{ readonly mode: number } | null> {
  const facts = await onPlace(path, lstat(folder.at(name)).catch(ifThere));
  if (facts === null) return null;
  if (facts.isDirectory()) throw fileError(path, "Is a directory");
  if (facts.isSymbolicLink()) throw fileError(path, "Link not followed");
  if (!facts.isFile()) throw fileError(path, "Not a regular file");
  if ((facts.mode & 0o200) === 0) throw fileError(path, "Permission denied");
  return { mode: facts.mode & 0o777 };
}

function ifThere(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}

/** Preserves names that are not UTF-8. */
function bytesOfPath({ path, isAddressable }: FileFacts): Uint8Array {
  return isAddressable ? Buffer.from(path) : Buffer.from(path.replaceAll("\ufffd", "\u00ff"), "latin1");
}

function unlessLate(error: unknown): void {
  if (!(error instanceof GloveboxError) || error.errorType !== "TIMEOUT") throw error;
}

function bounded(path: string, signal: AbortSignal | undefined): MoveBounds {
  throwIfCancelled(signal);
  return new MoveBounds(path, fileLimits, { signal, depth: maxOpenDepth });
}

async function fill(handle: FileHandle, { chunks }: SizedContent, bounds: MoveBounds): Promise<void> {
  for await (const chunk of chunks) {
    bounds.pass(chunk.length);
    await handle.writeFile(chunk);
  }
}
