import { lstat, readlink } from "node:fs/promises";
import type { CallOptions } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { weakestIsolation } from "../../policy/isolation.ts";
import { TreeWriter, type TreeTally } from "../copy/tree-writer.ts";
import { goesDown } from "../copy/safe-path.ts";
import { badAnswer, fileError, namesNotUtf8 } from "./file-error.ts";
import type { NewTreeEntry, TreeEntry, TreeFile, TreeFolder } from "./file-facts.ts";
import type { PackRequest } from "./file-way.ts";
import { maxOpenDepth, MoveBounds, treeLimits, type MoveLimits } from "./move-bounds.ts";
import { decodeTar } from "./tar-decoder.ts";
import { encodeTar } from "./tar-stream.ts";
import { onPlace, OpenHostPlace, placeError, type HostPlaces } from "./host-place.ts";
import type { Stats } from "node:fs";
import type { HostFolder } from "../../base/host-folder.ts";
import { openIn, piecesOf } from "./own-file.ts";

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
