import { closeSync, constants, fstatSync, openSync, opendirSync, readSync, type Dirent } from "node:fs";
import path from "node:path";

/** A folder with notes, by a path that nobody can swap. */
export interface MemorySource {
  /** Prefix of its files' names: `group` or `global`. */
  readonly name: string;
  /** Its real path. */
  readonly folder: string;
  /** From `stat`. */
  readonly device: string;
  readonly inode: string;
}

/** A file of notes; it is read only if it has changed. */
export interface MemoryFile {
  readonly path: string;
  /** Changes whenever the file changes. */
  readonly stamp: string;
  /** Null if it can no longer be read. */
  readonly read: () => string | null;
}

export type MemoryFiles = () => Iterable<MemoryFile>;

const bounds = { files: 500, entries: 20_000, fileBytes: 1_048_576, allBytes: 16_777_216, depth: 4 } as const;
const asFolder =
  constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const asFile = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

interface Left {
  files: number;
  entries: number;
  bytes: number;
}

/**
 * The notes of a group: `*.md` in its folder, and below `memory`. The group's agent writes there, so links are not
 * followed, and files, bytes and depth are limited.
 */
export function* readMemoryFiles(sources: readonly MemorySource[], platform: NodeJS.Platform): Iterable<MemoryFile> {
  for (const { name, folder, device, inode } of sources) {
    const left: Left = { files: bounds.files, entries: bounds.entries, bytes: bounds.allBytes };
    const root = openSync(folder, asFolder);
    try {
      const { dev, ino } = fstatSync(root, { bigint: true });
      if (String(dev) !== device || String(ino) !== inode) throw new Error("The folder was replaced.");
      yield* filesIn({ platform, descriptor: root, folder, name, depth: 0 }, left);
    } finally {
      closeSync(root);
    }
  }
}

interface Place {
  readonly platform: NodeJS.Platform;
  readonly descriptor: number;
  readonly folder: string;
  readonly name: string;
  readonly depth: number;
}

/** Paths of names in an open folder: on Linux no part of the path to it is looked up again. */
function within({ platform, descriptor, folder }: Place, name: string): string {
  return platform === "linux" ? `/proc/self/fd/${descriptor}/${name}` : path.join(folder, name);
}

function* filesIn(place: Place, left: Left): Iterable<MemoryFile> {
  const entries = entriesOf(place, left);
  for (const entry of entries) {
    if (entry.isFile() && entry.name.toLowerCase().endsWith(".md")) yield* fileAt(place, entry.name, left);
    const isMemory = place.depth > 0 || entry.name === "memory";
    if (!entry.isDirectory() || !isMemory || place.depth >= bounds.depth) continue;
    const descriptor = tryOpen(within(place, entry.name), asFolder);
    if (descriptor === null) continue;
    try {
      const folder = path.join(place.folder, entry.name);
      yield* filesIn(
        { ...place, descriptor, folder, name: `${place.name}/${entry.name}`, depth: place.depth + 1 },
        left,
      );
    } finally {
      closeSync(descriptor);
    }
  }
}

function entriesOf(place: Place, left: Left): readonly Dirent[] {
  const entries: Dirent[] = [];
  const folder = opendirSync(within(place, "."));
  try {
    for (let entry = folder.readSync(); entry !== null && left.entries > 0; entry = folder.readSync()) {
      left.entries -= 1;
      entries.push(entry);
    }
  } finally {
    folder.closeSync();
  }
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function* fileAt(place: Place, name: string, left: Left): Iterable<MemoryFile> {
  if (left.files <= 0) return;
  const descriptor = tryOpen(within(place, name), asFile);
  if (descriptor === null) return;
  try {
    const stat = fstatSync(descriptor, { bigint: true });
    const size = Number(stat.size);
    if (!stat.isFile() || size > bounds.fileBytes || size > left.bytes) return;
    left.files -= 1;
    left.bytes -= size;
    const stamp = [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(" ");
    yield { path: `${place.name}/${name}`, stamp, read: () => readAll(descriptor, size) };
  } finally {
    closeSync(descriptor);
  }
}

/** No more than its size was: it may grow meanwhile. */
function readAll(descriptor: number, size: number): string {
  const bytes = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const read = readSync(descriptor, bytes, length, size - length, length);
    if (read === 0) break;
    length += read;
  }
  return bytes.toString("utf8", 0, length);
}

function tryOpen(file: string, flags: number): number | null {
  try {
    return openSync(file, flags);
  } catch {
    // Gone meanwhile, a link, or unreadable for us.
    return null;
  }
}
