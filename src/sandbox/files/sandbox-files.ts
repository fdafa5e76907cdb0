import { GloveboxError, isSandboxLoss } from "../../errors/glovebox-error.ts";
import { assertRunsAnyProgram, runsInterpretersOnly, type Capabilities } from "../../engines/capabilities.ts";
import type { CallOptions, Container } from "../../engines/engine.ts";
import type {
  FileListing,
  NewTreeEntry,
  SizedContent,
  TreeEntry,
  UnsizedContent,
  FileFacts,
  FileKind,
  BatchFile,
  BatchRequest,
  FileContent,
  FileWay,
  FoundEntries,
  ListOptions,
  PackRequest,
  ReadOptions,
  WriteOptions,
  ListRequest,
  ReadRequest,
  TreeChanges,
} from "./file-way.ts";
import {
  onPlace,
  OpenHostPlace,
  packHostPlace,
  readHostPlace,
  unpackHostPlace,
  writeHostPlace,
  openFile,
  openingFlags,
  piecesOf,
  type HostPlaces,
} from "./host-place.ts";
import { InsideFiles } from "./inside-files.ts";
import { treeLimits, fileLimits, maxOpenDepth, MoveBounds, type MoveLimits } from "./move-bounds.ts";
import { constants, type Dirent } from "node:fs";
import { lstat, open, rename, rm, type FileHandle } from "node:fs/promises";
import { throwIfCancelled } from "../../base/abort.ts";
import { createId } from "../../base/id.ts";
import { weakestIsolation } from "../../policy/isolation.ts";
import type { HostFolder } from "../../base/host-folder.ts";
import { fileError } from "./file-error.ts";

/** What is collected of a folder, down to a given depth. */
interface Collecting {
  readonly found: FileFacts[];
  /** Paths of folders that could not be opened are put here. */
  readonly closed?: string[];
  readonly maxEntries: number;
  readonly bounds: MoveBounds;
  readonly depth: number;
}

/** Whether there was no more than requested. */
async function collect(folder: HostFolder, options: Collecting): Promise<boolean> {
  const { found, closed, maxEntries, bounds, depth } = options;
  let isWhole = true;
  const take = (level: number): boolean => {
    bounds.enter(level);
    return (isWhole = found.length < maxEntries);
  };
  const onTrouble = (path: string): void => {
    // What is gone since it was named was not found.
    if (found.at(-1)?.path === path) closed?.push(path);
  };
  for await (const entry of folder.walk({ maxDepth: depth, take, onTrouble })) {
    const { path, isUtf8, level, stat } = entry;
    const kind = kindOf(stat);
    found.push({
      path,
      isAddressable: isUtf8,
      kind,
      sizeBytes: kind === "file" ? stat.size : 0,
      mode: stat.mode & 0o7777,
      modifiedAtMs: Math.floor(stat.mtimeMs / 1000) * 1000,
    });
    if (level >= depth || !isUtf8) entry.passBy();
    // Nothing in it can be named.
    if (level < depth && !isUtf8 && kind === "folder") closed?.push(path);
  }
  return isWhole;
}

function kindOf(facts: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">): FileKind {
  if (facts.isFile()) return "file";
  if (facts.isDirectory()) return "folder";
  return facts.isSymbolicLink() ? "link" : "other";
}

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
class HostFiles implements FileWay {
  readonly #places: HostPlaces;

  constructor(places: HostPlaces) {
    this.#places = places;
  }

  async list(path: string, { depth, maxEntries, signal }: ListRequest): Promise<FileListing> {
    await using place = await OpenHostPlace.open(this.#places, path);
    await using folder = await this.#enterListed(place, path);
    const found: FileFacts[] = [];
    const bounds = bounded(path, signal);
    const isWhole = await onPlace(path, collect(folder, { found, maxEntries, bounds, depth }));
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
    await collect(top, request).catch(unlessLate);
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

const defaultEntries = 10_000;

/**
 * Files of a sandbox: the one way in and out for reading, writing, listing and copying. Paths are absolute paths inside.
 *
 * All throw NOT_FOUND, PERMISSION_DENIED, INVALID_REQUEST (a folder instead of a file, a FIFO, a device, an invalid
 * path), UNSUPPORTED if only interpreters can run and its folders are not accessible, POLICY_DENIED, TIMEOUT, CANCELLED and
 * SANDBOX_LOST.
 */
export class SandboxFiles {
  readonly #way: FileWay;

  /** `places`: the folders of a sandbox in which no program of ours can run. */
  constructor(
    container: Pick<Container, "files">,
    capabilities: Pick<Capabilities, "programs" | "isolation">,
    places: HostPlaces | null = null,
  ) {
    const isOnHost = places !== null && runsInterpretersOnly(capabilities);
    this.#way = isOnHost ? new HostFiles(places) : wayInto(container, capabilities);
  }

  /** Lists a folder; links are shown, not followed. */
  async list(path: string, { depth = 1, maxEntries = defaultEntries, signal }: ListOptions = {}): Promise<FileListing> {
    checkWhole("depth", depth, 1);
    checkWhole("maxEntries", maxEntries, 1);
    return this.#way.list(path, { depth, maxEntries, signal });
  }

  /** Opens a file, following links if they are resolved inside the sandbox. */
  async read(path: string, { offsetBytes = 0, maxBytes = -1, signal }: ReadOptions = {}): Promise<FileContent> {
    checkWhole("offset", offsetBytes, 0);
    checkWhole("maxBytes", maxBytes, -1);
    return this.#way.read(path, { offsetBytes, maxBytes, signal });
  }

  /**
   * What is below a folder, by kind. What does not fit, or cannot be reached in time, is missing.
   */
  findEntries(folder: string, options: CallOptions = {}): Promise<FoundEntries> {
    return this.#way.findEntries(folder, options);
  }

  /** Many small files at once. */
  readBatch(folder: string, request: BatchRequest): Promise<readonly BatchFile[]> {
    return this.#way.readBatch(folder, request);
  }

  /**
   * Creates or replaces a file; missing folders are created. The change is atomic: until all of it is there, or if
   * anything fails, the old file stays. @throws POLICY_DENIED if it does not fit, INVALID_REQUEST if the content does
   * not have the declared size
   */
  async write(
    path: string,
    content: Uint8Array | SizedContent | UnsizedContent,
    options: WriteOptions = {},
  ): Promise<void> {
    const { sizeBytes, chunks } = ArrayBuffer.isView(content) ? inOnePiece(content) : content;
    if (sizeBytes === null) return this.#way.write(path, { sizeBytes: treeLimits.maxBytes, chunks }, options);
    await this.#way.write(path, { sizeBytes, chunks: exactly(path, sizeBytes, chunks) }, options);
  }

  /**
   * A file, or a folder with everything below it; links as links. The reader must limit how much it takes, and may stop
   * early.
   * @throws at its end when a part could not be read
   */
  async *readTree(path: string, options: CallOptions = {}): AsyncGenerator<TreeEntry, void, undefined> {
    yield* this.#way.readTree(path, options);
  }

  /**
   * Puts entries into a folder, which is created if missing. Existing files are replaced; after a failure, what was
   * already written stays. @throws POLICY_DENIED when it does not fit
   */
  async writeTree(
    path: string,
    entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>,
    options: CallOptions = {},
  ): Promise<void> {
    await this.#way.writeTree(path, entries, options);
  }

  /**
   * Updates a tree, even while programs work on it: each file is renamed into place, which watchers see as one change.
   * After a failure, what was already done stays. @throws POLICY_DENIED when it does not fit, UNSUPPORTED where no
   * program of ours can run
   */
  async update(folder: string, changes: TreeChanges, options: CallOptions = {}): Promise<void> {
    await this.#way.update(folder, changes, options);
  }

  /**
   * Everything in a folder, as bytes that only `unpack` of a sandbox reads: names of any bytes, modes and, where the
   * sandbox can have them, links and FIFOs. At most 1,000,000 entries, 255 folders in folders, and ten minutes.
   * @throws at its end when a part could not be read, POLICY_DENIED for more than that, TIMEOUT
   */
  async *pack(folder: string, request: PackRequest): AsyncGenerator<Uint8Array, void, undefined> {
    yield* this.#way.pack(folder, request);
  }

  /**
   * Restores what `pack` has read into an existing folder, in this sandbox or another one, within the same bounds; what
   * stands in its way there goes.
   * @throws POLICY_DENIED when it does not fit
   */
  async unpack(folder: string, archive: AsyncIterable<Uint8Array>, options: CallOptions = {}): Promise<void> {
    await this.#way.unpack(folder, archive, options);
  }
}

function wayInto(
  container: Pick<Container, "files">,
  capabilities: Pick<Capabilities, "programs" | "isolation">,
): FileWay {
  return new InsideFiles((folder) => {
    assertRunsAnyProgram(capabilities, "that would move files");
    if (container.files !== undefined) return container.files(folder);
    throw new GloveboxError("UNSUPPORTED", "Nothing moves files in this sandbox.");
  });
}

function inOnePiece(content: Uint8Array): SizedContent {
  const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield content;
  };
  return { sizeBytes: content.length, chunks: chunks() };
}

/** The content; fails if its size differs from the declared one. The last piece is held back until that is known. */
async function* exactly(
  path: string,
  sizeBytes: number,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let count = 0;
  let held: Uint8Array | undefined;
  for await (const chunk of chunks) {
    count += chunk.length;
    if (count > sizeBytes) break;
    if (held !== undefined) yield held;
    held = chunk;
  }
  if (count === sizeBytes) {
    if (held !== undefined) yield held;
    return;
  }
  throw new GloveboxError("INVALID_REQUEST", `The content of ${JSON.stringify(path)} is not of ${sizeBytes} bytes.`, {
    suggestion: "Do not change the file while it is sent, or send it again.",
    context: { path, size_bytes: sizeBytes },
  });
}

function checkWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new GloveboxError("INVALID_REQUEST", `The ${name} must be a whole number from ${least}; it is ${value}.`);
}
