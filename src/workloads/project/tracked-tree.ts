import { gitNameSizes, readGitIndex, sharedIndexOf, type OnGitEntry } from "../../policy/git-files.ts";

/** Of an entry in an index without its name. */
const minEntryBytes = 62;

/** What git tracks in one folder. */
export interface TrackedFolder {
  /** Names of files and links. */
  readonly files: Set<string>;
  /** Folders with something tracked in them, and submodules. */
  readonly folders: Map<string, TrackedFolder>;
  /** Whether it is a submodule, of which git tracks which commit it is at. */
  isRepository: boolean;
}

/** What may still be read: together for all indexes of a copy. */
export interface TrackedRoom {
  /** Files and folders that are kept. */
  names: number;
  /** Of all entries that are read, with their names, whose beginnings they share in version 4. */
  entryBytes: number;
}

export interface TrackedIndex {
  readonly room: TrackedRoom;
  /** The project's folder within the work tree, with a slash at its end; empty: the work tree itself. */
  readonly prefix: string;
  /** Reads the other part of a split index, by its name; null: it is not there. */
  readonly readShared: (name: string) => Promise<Uint8Array | null>;
}

/**
 * What an index tracks at and below the prefix: also what is only to be added (`git add -N`), and what its owner has git
 * skip. Names that git itself refuses (`..`, `.git`, absolute ones) are left out, as are folders that a sparse index names
 * for all that is in them: those are not there. `form`: it was not understood; `large`: it has more than there is room for.
 */
export async function readTracked(
  index: Uint8Array,
  { room, prefix, readShared }: TrackedIndex,
): Promise<TrackedFolder | "form" | "large"> {
  if (index.length === 0) return newTrackedFolder();
  for (const size of gitNameSizes) {
    const tree = newTrackedFolder();
    // What was read counts, whatever comes of it; what is not kept does not.
    const left = { ...room };
    const keep = keeper(tree, Buffer.from(prefix), left);
    const facts = readGitIndex(index, size, keep);
    room.entryBytes = left.entryBytes;
    if (isSpent(left)) return "large";
    if (!facts.fits) continue;
    const sharedName = sharedIndexOf(facts, size);
    if (sharedName !== null) {
      const shared = await readShared(sharedName);
      if (shared === null) return "form";
      const maxEntries = Math.floor(shared.length / minEntryBytes);
      const gone = new Set(ewahPositions(facts.split?.subarray(size) ?? new Uint8Array(), maxEntries));
      let position = 0;
      const base = readGitIndex(shared, size, (kind, name) => gone.has(position++) || keep(kind, name));
      room.entryBytes = left.entryBytes;
      if (isSpent(left)) return "large";
      if (!base.fits) return "form";
    }
    room.names = left.names;
    return tree;
  }
  return "form";
}

export function newTrackedFolder(): TrackedFolder {
  return { files: new Set(), folders: new Map(), isRepository: false };
}

/** Whether both say the same. */
export function isSameTracked(one: TrackedFolder | null, other: TrackedFolder | null): boolean {
  if (one === null || other === null) return one === other;
  if (one.files.size !== other.files.size || one.folders.size !== other.folders.size) return false;
  if (one.isRepository !== other.isRepository) return false;
  for (const name of one.files) if (!other.files.has(name)) return false;
  for (const [name, folder] of one.folders) if (!isSameTracked(folder, other.folders.get(name) ?? null)) return false;
  return true;
}

function isSpent({ names, entryBytes }: TrackedRoom): boolean {
  return names < 0 || entryBytes < 0;
}

/** Empty names, `.`, `..` and `.git` in a path; and what is in no path. */
const invalid = /(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$)|[\0\ufffd]/i;

function keeper(tree: TrackedFolder, prefix: Buffer, room: TrackedRoom): OnGitEntry {
  // Entries come sorted, so that most are in the folder of the one before.
  let lastPath = "";
  let last = tree;
  return (kind, bytes) => {
    room.entryBytes -= minEntryBytes + bytes.length;
    if (room.entryBytes < 0) return false;
    if (kind === "folder" || bytes.length <= prefix.length) return true;
    if (prefix.length > 0 && !bytes.subarray(0, prefix.length).equals(prefix)) return true;
    const path = bytes.toString("utf8", prefix.length);
    if (invalid.test(path)) return true;
    const end = path.lastIndexOf("/");
    const folderPath = path.slice(0, Math.max(end, 0));
    if (folderPath !== lastPath) [lastPath, last] = [folderPath, enter(tree, folderPath, room)];
    const name = path.slice(end + 1);
    if (kind === "repository") child(last, name, room).isRepository = true;
    else if (!last.files.has(name)) {
      last.files.add(name);
      room.names -= 1;
    }
    return room.names >= 0;
  };
}

function enter(tree: TrackedFolder, path: string, room: TrackedRoom): TrackedFolder {
  let folder = tree;
  if (path !== "") for (const name of path.split("/")) folder = child(folder, name, room);
  return folder;
}

function child(folder: TrackedFolder, name: string, room: TrackedRoom): TrackedFolder {
  const known = folder.folders.get(name);
  if (known !== undefined) return known;
  const made = newTrackedFolder();
  folder.folders.set(name, made);
  room.names -= 1;
  return made;
}

const headBytes = 8;
const wordBytes = 8;
const wordBits = 64;

/**
 * Positions below `limit` that are set in a bitmap as git writes it (EWAH): its bits, its words, then words of which the
 * first says how many equal ones and how many plain ones follow. What is cut off has no positions.
 */
export function* ewahPositions(bytes: Uint8Array, limit: number): Generator<number, void, undefined> {
  if (bytes.length < headBytes) return;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = Math.min(headBytes + view.getUint32(4) * wordBytes, bytes.length - wordBytes + 1);
  let position = 0;
  for (let at = headBytes; at < end && position < limit;) {
    const marker = view.getBigUint64(at);
    at += wordBytes;
    const equalBits = Number((marker >> 1n) & 0xffff_ffffn) * wordBits;
    if ((marker & 1n) === 1n) for (let bit = position; bit < Math.min(position + equalBits, limit); bit += 1) yield bit;
    position += equalBits;
    for (let plain = Number(marker >> 33n); plain > 0 && at < end && position < limit; plain -= 1) {
      const word = view.getBigUint64(at);
      at += wordBytes;
      for (let bit = 0; bit < wordBits && position + bit < limit; bit += 1)
        if (((word >> BigInt(bit)) & 1n) === 1n) yield position + bit;
      position += wordBits;
    }
  }
}
