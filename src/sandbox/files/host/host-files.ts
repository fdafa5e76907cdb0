import { constants, type Stats } from "node:fs";
import { lstat, open, opendir, rename, rm, type FileHandle } from "node:fs/promises";
import { createId } from "../../../base/id.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { CallOptions } from "../../../engines/engine.ts";
import type { HostFolder } from "../../copy/host-folder.ts";
import { fileError } from "../file-error.ts";
import type { FileFacts, FileKind, FileListing, SizedContent, TreeEntry } from "../file-facts.ts";
import type { FileContent, FileWay, ListRequest, ReadRequest, WriteOptions } from "../file-way.ts";
import { HostBounds, maxBytes as maxCallBytes } from "./host-bounds.ts";
import { onPlace, OpenHostPlace, type HostPlaces } from "./host-place.ts";

/** Opens the thing itself, and never waits: neither for a FIFO's other end nor for a device. */
const opening: number = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Files in a sandbox's folders on this machine, for sandboxes in which no program of ours can run. The sandbox's programs
 * may change everything there meanwhile: each folder is held open and looked into, no link is followed, what was opened is
 * a file of the sandbox's own, and each call has its bounds. All throw what `SandboxFiles` throws.
 */
export class HostFiles implements FileWay {
  readonly #places: HostPlaces;

  constructor(places: HostPlaces) {
    this.#places = places;
  }

  async list(path: string, { depth, mostEntries, signal }: ListRequest): Promise<FileListing> {
    await using place = await OpenHostPlace.open(this.#places, path);
    await using folder = await this.#enterListed(place, path);
    const found: FileFacts[] = [];
    const bounds = new HostBounds(path, signal);
    const isWhole = await onPlace(path, collect(folder, { found, mostEntries, bounds, depth, prefix: "", level: 1 }));
    found.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
    return { entries: found, isTruncated: !isWhole };
  }

  async read(path: string, { offsetBytes, mostBytes, signal }: ReadRequest): Promise<FileContent> {
    await using place = await OpenHostPlace.open(this.#places, path);
    const name = place.names.at(-1);
    if (name === undefined) throw fileError(path, "Is a directory");
    await using folder = await place.enter(place.names.slice(0, -1));
    const before = await onPlace(path, lstat(folder.at(name)));
    if (before.isDirectory()) throw fileError(path, "Is a directory");
    if (before.isSymbolicLink()) throw fileError(path, "Link not followed");
    if (!before.isFile()) throw fileError(path, "Not a regular file");
    const handle = await onPlace(path, open(folder.at(name), constants.O_RDONLY | opening));
    try {
      const { size } = await ownFile(path, handle, place);
      const rest = Math.max(size - offsetBytes, 0);
      const length = Math.min(mostBytes < 0 ? rest : Math.min(rest, mostBytes), maxCallBytes);
      return { sizeBytes: size, chunks: pieces(handle, { offsetBytes, length, bounds: new HostBounds(path, signal) }) };
    } catch (error) {
      await handle.close();
      throw error;
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
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | opening;
    const handle = await onPlace(path, open(temporary, flags, 0o600));
    try {
      await onPlace(path, fill(handle, content, new HostBounds(path, signal)));
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

  // oxlint-disable-next-line require-yield -- there is nothing to give
  async *readTree(path: string, _options: CallOptions): AsyncGenerator<TreeEntry, void, undefined> {
    throw noTrees(path);
  }

  async writeTree(path: string): Promise<void> {
    throw noTrees(path);
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

/** A folder whose entries are collected, so many levels down. */
interface Collecting {
  readonly found: FileFacts[];
  readonly mostEntries: number;
  readonly bounds: HostBounds;
  readonly depth: number;
  readonly prefix: string;
  readonly level: number;
}

/** Whether there was no more than was asked for. */
async function collect(folder: HostFolder, options: Collecting): Promise<boolean> {
  const { found, mostEntries, bounds, depth, prefix, level } = options;
  // A name at a time: a folder of millions is not here as a whole.
  for await (const { name } of await opendir(folder.self)) {
    bounds.enter(level);
    if (found.length >= mostEntries) return false;
    const facts = await factsOf(folder, name, `${prefix}${name}`);
    // Gone since it was named.
    if (facts === null) continue;
    found.push(facts);
    if (facts.kind !== "folder" || level >= depth) continue;
    const child = await folder.enter(name).catch(() => null);
    if (child === null) continue;
    await using below = child;
    if (!(await collect(below, { ...options, prefix: `${prefix}${name}/`, level: level + 1 }))) return false;
  }
  return true;
}

async function factsOf(folder: HostFolder, name: string, path: string): Promise<FileFacts | null> {
  const facts = await lstat(folder.at(name)).catch(() => null);
  // A name that is not UTF-8 cannot be asked for.
  if (facts === null && !name.includes("\ufffd")) return null;
  const kind = facts === null ? "other" : kindOf(facts);
  return {
    path,
    isAddressable: facts !== null,
    kind,
    sizeBytes: kind === "file" ? (facts?.size ?? 0) : 0,
    mode: (facts?.mode ?? 0) & 0o7777,
    modifiedAtMs: Math.floor((facts?.mtimeMs ?? 0) / 1000) * 1000,
  };
}

function kindOf(facts: Stats): FileKind {
  if (facts.isFile()) return "file";
  if (facts.isDirectory()) return "folder";
  return facts.isSymbolicLink() ? "link" : "other";
}

/** What stands where a file is to be written; null: nothing. */
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

/** What was opened, which may be something else than stood there a moment ago. */
async function ownFile(path: string, handle: FileHandle, place: OpenHostPlace): Promise<Stats> {
  const facts = await handle.stat();
  if (!facts.isFile()) throw fileError(path, "Not a regular file");
  if (!place.isOwn(facts)) throw fileError(path, "Not its own");
  return facts;
}

async function* pieces(
  handle: FileHandle,
  {
    offsetBytes,
    length,
    bounds,
  }: { readonly offsetBytes: number; readonly length: number; readonly bounds: HostBounds },
): AsyncGenerator<Uint8Array, void, undefined> {
  await using file = handle;
  if (length === 0) return;
  const end = offsetBytes + length - 1;
  const stream = file.createReadStream({ start: offsetBytes, end, autoClose: false }) as AsyncIterable<Uint8Array>;
  for await (const piece of stream) {
    bounds.pass(piece.length);
    yield piece;
  }
}

async function fill(handle: FileHandle, { chunks }: SizedContent, bounds: HostBounds): Promise<void> {
  for await (const chunk of chunks) {
    bounds.pass(chunk.length);
    await handle.writeFile(chunk);
  }
}

function noTrees(path: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "At isolation preload files are moved one by one, no trees.", {
    suggestion: "List the folder, and read its files by name.",
    context: { path, isolation: "preload" },
  });
}
