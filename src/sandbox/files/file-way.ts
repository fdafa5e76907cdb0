import type { CallOptions } from "../../engines/engine.ts";
import type { FileListing, NewTreeEntry, SizedContent, TreeEntry } from "./file-facts.ts";
import type { TreeChanges } from "./update/tree-changes.ts";

export interface ListOptions extends CallOptions {
  /** Levels of folders below; default 1: the folder's own entries. */
  readonly depth?: number | undefined;
  /** Default 10,000. */
  readonly maxEntries?: number | undefined;
}

export interface ReadOptions extends CallOptions {
  /** Default 0. */
  readonly offsetBytes?: number | undefined;
  /** Default: to its end. */
  readonly maxBytes?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /** Permissions; default: those of the file that is replaced, else 0o644. */
  readonly mode?: number | undefined;
}

/** A file that is being read. */
export interface FileContent {
  /** Of the whole file when it was opened; a program may shorten it while it is read. */
  readonly sizeBytes: number;
  /** Must be read, or given up by ending the iteration. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A listing that was asked for, with its bounds. */
export interface ListRequest extends CallOptions {
  readonly depth: number;
  readonly maxEntries: number;
}

/** A reading that was asked for. */
export interface ReadRequest extends CallOptions {
  readonly offsetBytes: number;
  /** -1: to its end. */
  readonly maxBytes: number;
}

/** Files of which as many are read as fit, whatever becomes of the others. */
export interface BatchRequest extends CallOptions {
  /** Relative to the folder. */
  readonly paths: readonly string[];
  /** Bytes of one file; a larger one is not read. */
  readonly maxFileBytes: number;
  /** Bytes of all together. */
  readonly maxBytes: number;
}

/** One file of a batch, as it was found. */
export interface BatchFile {
  /** Bytes when it was looked at; null when it was gone or no regular file, or may not be read. */
  readonly sizeBytes: number | null;
  readonly unreadable: boolean;
  /** Null when it was too large. */
  readonly bytes: Uint8Array | null;
}

/** What an archive may come to. */
export interface PackRequest extends CallOptions {
  /** Bytes of the archive, in which each entry takes half a kibibyte and more beside its content. */
  readonly maxBytes: number;
}

/** How files are moved: from inside a sandbox, or in folders of this machine that its programs write to. */
export interface FileWay {
  /** What stands in a folder; links are shown, not followed. */
  list(path: string, request: ListRequest): Promise<FileListing>;
  read(path: string, request: ReadRequest): Promise<FileContent>;
  /** Paths of the regular files below a folder, relative to it, as far as they fit; no link is followed. */
  findFiles(folder: string, options: CallOptions): Promise<readonly Uint8Array[]>;
  /** In the order of the request; the last ones are missing when there was no time for them. */
  readBatch(folder: string, request: BatchRequest): Promise<readonly BatchFile[]>;
  /** Makes or replaces a file, which takes its place when all of it is there. */
  write(path: string, content: SizedContent, options: WriteOptions): Promise<void>;
  readTree(path: string, options: CallOptions): AsyncGenerator<TreeEntry, void, undefined>;
  writeTree(
    path: string,
    entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>,
    options: CallOptions,
  ): Promise<void>;
  /** Brings a tree up to date; each file takes its place whole. */
  update(folder: string, changes: TreeChanges, options: CallOptions): Promise<void>;
  /** Everything in a folder, as an archive that only `unpack` knows to read. */
  pack(folder: string, request: PackRequest): AsyncGenerator<Uint8Array, void, undefined>;
  /** Puts into a folder what `pack` has read. */
  unpack(folder: string, archive: AsyncIterable<Uint8Array>, options: CallOptions): Promise<void>;
}
