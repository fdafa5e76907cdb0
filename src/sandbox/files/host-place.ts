import { constants, type Stats } from "node:fs";
import { chmod, lstat, stat, open, readlink, type FileHandle } from "node:fs/promises";
import { posix } from "node:path";
import { HostFolder } from "../../base/host-folder.ts";
import { fileError, badAnswer, namesNotUtf8 } from "./file-error.ts";
import { insidePath } from "./inside-path.ts";
import { MoveBounds, maxOpenDepth, treeLimits, type MoveLimits } from "./move-bounds.ts";
import type { CallOptions } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { weakestIsolation } from "../../policy/isolation.ts";
import { TreeWriter, type TreeTally } from "../copy/tree-writer.ts";
import { goesDown } from "../copy/safe-path.ts";
import type { NewTreeEntry, TreeEntry, TreeFile, TreeFolder, PackRequest } from "./file-way.ts";
import { decodeTar, encodeTar } from "./tree-archive.ts";

/** A folder of a sandbox that is on this machine: its programs, which may be hostile, write to it while we read. */
export interface HostPlace {
  /** Path inside. */
  readonly inside: string;
  /** Real path here, which only we can change. */
  readonly here: string;
  readonly readOnly: boolean;
}

export interface HostPlaces {
  readonly places: readonly HostPlace[];
  readonly platform: NodeJS.Platform;
  /** @throws SANDBOX_LOST if the folders are gone, or about to be removed */
  readonly assertLiving: () => Promise<void>;
}

/** The kernel's error, in the form that `fileError` knows. */
const words: Readonly<Record<string, string>> = {
  ENOENT: "No such file",
  ENOTDIR: "Not a directory",
  EISDIR: "Is a directory",
  ELOOP: "Link not followed",
  ENXIO: "Not a regular file",
  EOPNOTSUPP: "Not a regular file",
  EACCES: "Permission denied",
  EPERM: "Permission denied",
  EROFS: "Read-only file system",
  ENOSPC: "No space left on device",
  EDQUOT: "Disk quota exceeded",
  ENAMETOOLONG: "File name too long",
};

/** An open folder, and the names that lead down from it. */
export class OpenHostPlace implements AsyncDisposable {
  readonly names: readonly string[];
  readonly readOnly: boolean;
  /** Owner of everything in it. */
  readonly owner: Pick<Stats, "uid" | "gid">;
  readonly #root: HostFolder;
  readonly #path: string;

  /** Opens the folder that a path inside is in. @throws NOT_FOUND, INVALID_REQUEST, PERMISSION_DENIED, SANDBOX_LOST */
  static async open({ places, platform, assertLiving }: HostPlaces, path: string): Promise<OpenHostPlace> {
    // Links are not followed here, so `..` goes up exactly one level.
    const normal = posix.normalize(insidePath(path));
    const ways = places.flatMap((place) => [place.inside, place.here].map((top) => ({ place, top })));
    const [found] = ways
      .filter(({ top }) => normal === top || normal.startsWith(`${top}/`))
      .toSorted((a, b) => b.top.length - a.top.length);
    if (found === undefined) throw fileError(path, "No such file");
    await assertLiving();
    const names = normal.slice(found.top.length).split("/").filter(Boolean);
    return onPlace(path, OpenHostPlace.#open(found.place, platform, { names, path }));
  }

  static async #open(
    { here, readOnly }: HostPlace,
    platform: NodeJS.Platform,
    { names, path }: { readonly names: readonly string[]; readonly path: string },
  ): Promise<OpenHostPlace> {
    await using passed = await HostFolder.pass(here, platform);
    const facts = await (platform === "linux" ? stat(passed.self) : lstat(here));
    if (!facts.isDirectory()) throw fileError(path, "Not a directory");
    // A program may have removed permissions that we need too.
    if (!readOnly && (facts.mode & 0o700) !== 0o700) await chmod(passed.self, 0o755);
    return new OpenHostPlace(await passed.enter("."), { names, path, readOnly, owner: facts });
  }

  private constructor(
    root: HostFolder,
    { names, path, readOnly, owner }: Pick<OpenHostPlace, "names" | "readOnly" | "owner"> & { readonly path: string },
  ) {
    this.#root = root;
    this.#path = path;
    this.names = names;
    this.readOnly = readOnly;
    this.owner = owner;
  }

  /** The folder at a path, each name looked up in the one above it; no link is followed. */
  async enter(names: readonly string[], { make = false } = {}): Promise<HostFolder> {
    let folder = await onPlace(this.#path, this.#root.enter("."));
    for (const name of names) {
      try {
        const isNew = make && (await onPlace(this.#path, folder.make(name, 0o755)));
        const next = await onPlace(this.#path, folder.enter(name));
        if (isNew) await next.giveTo(this.owner);
        await folder[Symbol.asyncDispose]();
        folder = next;
      } catch (error) {
        await folder[Symbol.asyncDispose]();
        throw error;
      }
    }
    return folder;
  }

  /** Whether the opened file is the sandbox's own: a hard link to someone else's file is not. */
  isOwn({ uid }: Pick<Stats, "uid">): boolean {
    return uid === this.owner.uid;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#root[Symbol.asyncDispose]();
  }
}

/** The result of work on a sandbox's folders; failures are translated as for `SandboxFiles`, with the path inside. */
export async function onPlace<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw placeError(path, error);
  }
}

/** Opens the path itself without following links, and never blocks, neither on a FIFO's other end nor on a device. */
export const openingFlags: number = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

interface OwnFile {
  readonly handle: FileHandle;
  readonly facts: Stats;
}

/**
 * Opens the file that a path was opened for; it is one of the sandbox's own, whatever it is replaced with meanwhile.
 */
export async function openFile(place: OpenHostPlace, path: string): Promise<OwnFile> {
  const name = place.names.at(-1);
  if (name === undefined) throw fileError(path, "Is a directory");
  await using folder = await place.enter(place.names.slice(0, -1));
  const before = await onPlace(path, lstat(folder.at(name)));
  if (before.isDirectory()) throw fileError(path, "Is a directory");
  if (before.isSymbolicLink()) throw fileError(path, "Link not followed");
  if (!before.isFile()) throw fileError(path, "Not a regular file");
  return await openIn(folder, name, { place, path });
}

/** A part of a file; closes the file at the end. */
export async function* piecesOf(
  handle: FileHandle,
  {
    offsetBytes,
    length,
    bounds,
  }: { readonly offsetBytes: number; readonly length: number; readonly bounds: MoveBounds },
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

interface BoundedCall extends CallOptions {
  readonly limits: MoveLimits;
}

/** As `FileWay.readTree`, from folders of this machine whose programs are hostile. */
export async function* readHostPlace(
  places: HostPlaces,
  path: string,
  { limits, signal }: BoundedCall,
): AsyncGenerator<TreeEntry, void, undefined> {
  await using place = await OpenHostPlace.open(places, path);
  const bounds = new MoveBounds(path, limits, { signal, depth: maxOpenDepth });
  const tree: PlaceTree = { place, bounds, path, failures: [] };
  const name = place.names.at(-1);
  await using parent = await place.enter(place.names.slice(0, -1));
  const facts = await onPlace(path, name === undefined ? lstat(parent.self) : lstat(parent.at(name)));
  if (name !== undefined && !facts.isDirectory()) yield* readPlaceEntry(parent, name, { tree, facts, path: name });
  else {
    await using folder = await onPlace(path, parent.enter(name ?? "."));
    yield { kind: "folder", path: "", mode: facts.mode & 0o777, modifiedAtMs: Math.floor(facts.mtimeMs) };
    yield* readPlaceTree(folder, tree);
  }
  if (tree.failures.length > 0) throw tree.failures[0];
}

/** As `FileWay.writeTree`. */
export async function writeHostPlace(
  places: HostPlaces,
  path: string,
  entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>,
  { limits, signal }: BoundedCall,
): Promise<void> {
  await using place = await OpenHostPlace.open(places, path);
  if (place.readOnly) throw fileError(path, "Read-only file system");
  await using root = await place.enter(place.names, { make: true });
  const bounds = new MoveBounds(path, limits, { signal, depth: maxOpenDepth });
  const tally: TreeTally = {
    take: () => bounds.enter(0),
    arrive: (bytes) => bounds.pass(bytes),
    skip: (name) => {
      throw noLink(name);
    },
  };
  const { platform } = places;
  const insides = { owner: place.owner, exactModes: true, allowsLink: goesDown, onFailure: onPlace } as const;
  await using writer = new TreeWriter(root, { budget: tally, platform, ...insides });
  for await (const entry of entries) {
    bounds.check();
    await writer.write(entry, []);
  }
}

/** As `FileWay.pack`; fails for anything but files and folders: nothing is skipped silently. */
export async function* packHostPlace(
  places: HostPlaces,
  folder: string,
  { maxBytes, signal }: PackRequest,
): AsyncGenerator<Uint8Array, void, undefined> {
  const tree = readHostPlace(places, folder, { limits: { ...treeLimits, maxBytes }, signal });
  yield* encodeTar(onlyPlain(folder, tree));
}

/** As `FileWay.unpack`. */
export async function unpackHostPlace(
  places: HostPlaces,
  folder: string,
  archive: AsyncIterable<Uint8Array>,
  { signal }: CallOptions,
): Promise<void> {
  try {
    const entries = onlyPlain(folder, decodeTar(archive));
    await writeHostPlace(places, folder, entries, { limits: treeLimits, signal });
  } catch (error) {
    throw error instanceof RangeError ? badAnswer(JSON.stringify(folder), error.message) : error;
  }
}

async function* onlyPlain(
  folder: string,
  tree: AsyncIterable<TreeEntry>,
): AsyncGenerator<TreeFile | TreeFolder, void, undefined> {
  for await (const entry of tree) {
    if (entry.kind !== "file" && entry.kind !== "folder") throw notPlain(folder, entry.path);
    if (entry.path !== "") yield entry;
  }
}

function notPlain(folder: string, name: string): GloveboxError {
  const what = JSON.stringify(`${folder}/${name}`);
  return new GloveboxError("INVALID_REQUEST", `${what} is neither a file nor a folder.`, {
    suggestion: "Remove it, or use an engine with a higher isolation, which keeps links and FIFOs too.",
    context: { path: `${folder}/${name}`, isolation: weakestIsolation },
  });
}

function noLink(name: string): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `The link ${JSON.stringify(name)} could lead out of the sandbox.`, {
    suggestion:
      "At isolation preload only links that lead down from where they are go into a sandbox. Leave it out, or use an engine with a higher isolation.",
    context: { path: name, isolation: weakestIsolation },
  });
}

interface PlaceTree {
  readonly place: OpenHostPlace;
  readonly bounds: MoveBounds;
  /** The requested path, as the caller named it. */
  readonly path: string;
  /** What could not be read, reported after everything else. */
  readonly failures: unknown[];
}

/** What is below an open folder. Entries that disappear meanwhile are skipped; no link is followed. */
async function* readPlaceTree(folder: HostFolder, tree: PlaceTree): AsyncGenerator<TreeEntry, void, undefined> {
  const take = (level: number): boolean => {
    tree.bounds.enter(level);
    return true;
  };
  const onTrouble = (_: string, error: unknown): void => noteUnreadable(tree, placeError(tree.path, error));
  for await (const entry of folder.walk({ maxDepth: maxOpenDepth, take, onTrouble })) {
    if (!entry.isUtf8) throw namesNotUtf8(tree.path);
    yield* readPlaceEntry(entry.folder, entry.name, { tree, facts: entry.stat, path: entry.path });
  }
}

/** One name of a folder, without what is below it. Of a file the content must be read before the next entry. */
async function* readPlaceEntry(
  folder: HostFolder,
  name: string,
  { tree, facts, path }: { readonly tree: PlaceTree; readonly facts: Stats; readonly path: string },
): AsyncGenerator<TreeEntry, void, undefined> {
  const common = partOf(path, facts);
  if (facts.isDirectory()) yield { ...common, kind: "folder" };
  else if (facts.isSymbolicLink()) {
    const target = await readlink(folder.at(name)).catch(() => null);
    if (target?.includes("\ufffd") === true) throw namesNotUtf8(tree.path);
    if (target !== null) yield { ...common, kind: "link", target };
  } else if (facts.isFile()) yield* readPlaceFile(folder, name, { tree, path });
  else yield { ...common, kind: "other" };
}

async function* readPlaceFile(
  folder: HostFolder,
  name: string,
  { tree, path }: { readonly tree: PlaceTree; readonly path: string },
): AsyncGenerator<TreeEntry, void, undefined> {
  const { place, bounds } = tree;
  const file = await unlessUnreadable(tree, openIn(folder, name, { place, path: tree.path }));
  if (file === null) return;
  await using handle = file.handle;
  const sizeBytes = file.facts.size;
  const chunks = piecesOf(handle, { offsetBytes: 0, length: sizeBytes, bounds });
  yield { ...partOf(path, file.facts), kind: "file", sizeBytes, chunks };
}

function partOf(path: string, { mode, mtimeMs }: Stats): Pick<TreeEntry, "path" | "mode" | "modifiedAtMs"> {
  return { path, mode: mode & 0o777, modifiedAtMs: Math.floor(mtimeMs / 1000) * 1000 };
}

/** Null for entries that are gone or have become something else, and for unreadable ones. */
async function unlessUnreadable<T>(tree: PlaceTree, work: Promise<T>): Promise<T | null> {
  try {
    return await onPlace(tree.path, work);
  } catch (error) {
    noteUnreadable(tree, error);
    return null;
  }
}

/** Those that are unreadable are reported at the end. @throws what is neither that nor gone */
function noteUnreadable({ failures }: PlaceTree, error: unknown): void {
  if (!(error instanceof GloveboxError)) throw error;
  if (error.errorType === "PERMISSION_DENIED") {
    if (failures.length === 0) failures.push(error);
  } else if (error.errorType !== "NOT_FOUND" && error.errorType !== "INVALID_REQUEST") throw error;
}

/** An error of work on a sandbox's folders as `onPlace` translates it; others as they are. */
function placeError(path: string, error: unknown): unknown {
  const said = words[(error as NodeJS.ErrnoException).code ?? ""];
  return said === undefined ? error : fileError(path, said);
}

/** Opens a name of a folder and checks it once it is open: a moment ago it may have been something else. */
async function openIn(
  folder: HostFolder,
  name: string,
  { place, path }: { readonly place: OpenHostPlace; readonly path: string },
): Promise<OwnFile> {
  const handle = await onPlace(path, open(folder.at(name), constants.O_RDONLY | openingFlags));
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw fileError(path, "Not a regular file");
    if (!place.isOwn(facts)) throw fileError(path, "Not its own");
    return { handle, facts };
  } catch (error) {
    await handle.close();
    throw error;
  }
}
