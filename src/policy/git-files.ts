import path from "node:path";

/** What a git configuration names of other places that git reads or runs from. */
interface GitConfigPaths {
  /** Folders of hooks, relative to the work tree. */
  readonly hookFolders: readonly string[];
  /** Further configuration, relative to the file's own folder. */
  readonly includes: readonly string[];
}

/** More than a few are no configuration of a person's. */
const maxPaths = 16;

/** Reads `core.hooksPath`, `include.path` and `includeIf.*.path`; what git would not read as such is passed over. */
export function gitConfigPaths(text: string): GitConfigPaths {
  const hookFolders: string[] = [];
  const includes: string[] = [];
  let section = "";
  for (const line of text.split("\n")) {
    const head = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]/.exec(line);
    if (head !== null) section = (head[1] ?? "").toLowerCase();
    // Git takes a setting on the line of its section too.
    const setting = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*=\s*(.*)$/s.exec(line.slice(head?.[0].length ?? 0));
    if (setting === null) continue;
    const name = (setting[1] ?? "").toLowerCase();
    const value = valueOf(setting[2] ?? "");
    if (section === "core" && name === "hookspath") hookFolders.push(value);
    if ((section === "include" || section === "includeif") && name === "path") includes.push(value);
  }
  return { hookFolders: hookFolders.slice(-maxPaths), includes: includes.slice(-maxPaths) };
}

/** Bytes of an object's name: SHA-1 and SHA-256. The index does not say which; only one of them fits its length. */
export const gitNameSizes: readonly number[] = [20, 32];

/** A longer path is none that a system opens. */
const maxNameBytes = 4_096;

const headerBytes = 12;
const isExtended = 0x4000;
const nameLengthMask = 0xfff;

/** What an entry of the index is, by its mode; `folder` stands for all below it, in a sparse index. */
type GitEntryKind = "file" | "repository" | "folder";

/**
 * Told of one entry; its name is only valid during the call, and may be any bytes. False: the rest need not be read, and
 * the index counts as one that was not understood.
 */
export type OnGitEntry = (kind: GitEntryKind, name: Buffer) => boolean;

/** What the index says beside its entries. */
interface GitIndexFacts {
  /** Of a split index: what names the file with the rest of its entries, and which of those are gone. */
  readonly split: Buffer | null;
  /** Whether its parts end where the file does, which a wrong size of names does not lead to. */
  readonly fits: boolean;
}

/**
 * Reads versions 2 to 4 of git's index (`Documentation/gitformat-index`), in time linear in its size and in the bytes of
 * all names that it tells; no name is longer than 4,096 bytes. `nameSize` is one of `gitNameSizes`.
 */
export function readGitIndex(index: Uint8Array, nameSize: number, onEntry: OnGitEntry): GitIndexFacts {
  const bytes = Buffer.from(index.buffer, index.byteOffset, index.byteLength);
  const end = bytes.length - nameSize;
  let at = readEntries(bytes, nameSize, onEntry);
  let split: Buffer | null = null;
  while (at !== null && at + 8 <= end) {
    const start = at + 8;
    const size = bytes.readUInt32BE(at + 4);
    if (bytes.toString("latin1", at, at + 4) === "link") split = bytes.subarray(start, Math.min(start + size, end));
    at = start + size;
  }
  return { split, fits: at !== null && at === end };
}

/** The name of the file that a split index needs; null: it needs none. */
export function sharedIndexOf({ split }: GitIndexFacts, nameSize: number): string | null {
  if (split === null || split.length < nameSize) return null;
  const name = split.toString("hex", 0, nameSize);
  return /^0+$/.test(name) ? null : `sharedindex.${name}`;
}

/** Repositories in a repository that are looked into: `git status` runs what their configuration names. */
const maxLinks = 64;

/** What git's index tells of repositories within a work tree. */
export interface GitIndexLinks {
  /** Their paths (submodules), at most 64. */
  readonly links: readonly string[];
  /** The file beside it that has the rest of its entries, if it is split. */
  readonly sharedIndexes: readonly string[];
  /** Whether it was understood to its end, and no path was left out. */
  readonly isWhole: boolean;
}

/** Reads git's index, in time linear in its size; an empty one has no entries. */
export function gitIndexLinks(index: Uint8Array): GitIndexLinks {
  if (index.length === 0) return { links: [], sharedIndexes: [], isWhole: true };
  const all = new Set<string>();
  const sharedIndexes: string[] = [];
  let isUnderstood = false;
  for (const size of gitNameSizes) {
    let room = maxLinks + 1;
    const facts = readGitIndex(index, size, (kind, name) => {
      if (kind === "repository" && (room -= 1) >= 0) all.add(name.toString("utf8"));
      return true;
    });
    if (!facts.fits) continue;
    isUnderstood = true;
    const shared = sharedIndexOf(facts, size);
    if (shared !== null) sharedIndexes.push(shared);
  }
  const links = [...all];
  return { links: links.slice(0, maxLinks), sharedIndexes, isWhole: isUnderstood && links.length <= maxLinks };
}

/**
 * The path from the project's root of what a file of the project names, null when it lies outside.
 * `folder` is the folder that relative names start at, from the root ("" for the root itself).
 */
export function pathInside(root: string, folder: string, named: string): string | null {
  if (named === "" || named.includes("\0")) return null;
  const absolute = path.posix.resolve(root, folder, named);
  if (!absolute.startsWith(`${root === "/" ? "" : root}/`)) return null;
  const inside = path.posix.relative(root, absolute);
  return inside === "" ? null : inside;
}

/** Without its comment and quotation marks. */
function valueOf(raw: string): string {
  let value = "";
  let isQuoted = false;
  for (let index = 0; index < raw.length; index += 1) {
    const character = raw.charAt(index);
    if (character === '"') isQuoted = !isQuoted;
    else if (character === "\\") value += raw.charAt((index += 1));
    else if (!isQuoted && (character === "#" || character === ";")) break;
    else value += character;
  }
  return value.trim();
}

/** Where the extensions begin; null: it is no index of a known form, or nobody wants the rest. */
function readEntries(bytes: Buffer, nameSize: number, onEntry: OnGitEntry): number | null {
  if (bytes.length < headerBytes || bytes.toString("latin1", 0, 4) !== "DIRC") return null;
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return null;
  const count = bytes.readUInt32BE(8);
  // Of version 4, whose names share their beginnings: one buffer, so that each byte is copied once.
  const name = Buffer.alloc(maxNameBytes);
  let nameBytes = 0;
  let at = headerBytes;
  // Times, numbers and sizes come first, then the mode's 4 bytes at 24, the object's name at 40, and the flags' 2.
  const flagsAt = 40 + nameSize;
  for (let entry = 0; entry < count; entry += 1) {
    if (at + flagsAt + 2 > bytes.length) return null;
    const kind = kindOf(bytes.readUInt32BE(at + 24));
    const flags = bytes.readUInt16BE(at + flagsAt);
    const start = at + flagsAt + 2 + ((flags & isExtended) === 0 ? 0 : 2);
    if (version === 4) {
      const dropped = readDropped(bytes, start);
      const end = bytes.indexOf(0, dropped.next);
      const kept = nameBytes - dropped.count;
      if (end < 0 || kept < 0 || kept + end - dropped.next > maxNameBytes) return null;
      nameBytes = kept + bytes.copy(name, kept, dropped.next, end);
      at = end + 1;
      if (!onEntry(kind, name.subarray(0, nameBytes))) return null;
      continue;
    }
    const length = flags & nameLengthMask;
    const end = length < nameLengthMask ? start + length : bytes.indexOf(0, start);
    if (end < 0 || end > bytes.length) return null;
    if (!onEntry(kind, bytes.subarray(start, Math.min(end, start + maxNameBytes)))) return null;
    // Filled with 1 to 8 zeros up to a multiple of 8.
    at += (Math.floor((end - at) / 8) + 1) * 8;
  }
  return at;
}

function kindOf(mode: number): GitEntryKind {
  const type = mode & 0o170000;
  if (type === 0o160000) return "repository";
  return type === 0o040000 ? "folder" : "file";
}

/** How much of the name before is dropped: git's variable-width number. */
function readDropped(bytes: Buffer, at: number): { readonly count: number; readonly next: number } {
  let next = at;
  let byte = bytes[next++] ?? 0;
  let count = byte & 0x7f;
  while ((byte & 0x80) !== 0 && next < bytes.length && count < bytes.length) {
    byte = bytes[next++] ?? 0;
    count = ((count + 1) << 7) | (byte & 0x7f);
  }
  return { count, next };
}
