import type { CallOptions } from "../../engines/engine.ts";
import type { FileListing, NewTreeEntry, SizedContent, TreeEntry } from "./file-facts.ts";
import type { TreeChanges } from "./tree-changes.ts";

export interface ListOptions extends CallOptions {
  /** Depth; default 1: the folder's own entries. */
  readonly depth?: number | undefined;
  /** Default 10,000. */
  readonly maxEntries?: number | undefined;
}

export interface ReadOptions extends CallOptions {
  /** Default 0. */
  readonly offsetBytes?: number | undefined;
  /** Default: to the end. */
  readonly maxBytes?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /** Permissions; default: those of the file that is replaced, else 0o644. */
  readonly mode?: number | undefined;
}

/** An open file. */
export interface FileContent {
  /** Of the whole file when opened; a program may truncate it while it is read. */
  readonly sizeBytes: number;
  /** Must be read, or abandoned by ending the iteration. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A requested listing, with its bounds. */
export interface ListRequest extends CallOptions {
  readonly depth: number;
  readonly maxEntries: number;
}

/** A requested read. */
export interface ReadRequest extends CallOptions {
  readonly offsetBytes: number;
  /** -1: to its end. */
  readonly maxBytes: number;
}

/** Files to read, as many as fit; failures of some do not affect the others. */
export interface BatchRequest extends CallOptions {
  /** Relative to the folder. */
  readonly paths: readonly string[];
  /** Maximum bytes of one file; a larger one is not read. */
  readonly maxFileBytes: number;
  /** Maximum bytes of all together. */
  readonly maxBytes: number;
}

/** One file of a batch. */
export interface BatchFile {
  /** Bytes when it was checked; null if it was gone, is not a regular file, or cannot be read. */
  readonly sizeBytes: number | null;
  readonly unreadable: boolean;
  /** Null when it was too large. */
  readonly bytes: Uint8Array | null;
}

/** What is below a folder: paths relative to it, as bytes. */
export interface FoundEntries {
  /** Regular files. */
  readonly files: readonly Uint8Array[];
  readonly links: readonly Uint8Array[];
  /** Pipes, sockets and devices. */
  readonly others: readonly Uint8Array[];
  /** Folders that cannot be looked into; empty where all can be. */
  readonly closedFolders: readonly Uint8Array[];
}

/** The limits of an archive. */
export interface PackRequest extends CallOptions {
  /** Bytes of the archive, in which each entry takes half a kibibyte or more in addition to its content. */
  readonly maxBytes: number;
}

/** How files are moved: from inside a sandbox, or in folders of this machine that its programs write to. */
export interface FileWay {
  /** Lists a folder; links are shown, not followed. */
  list(path: string, request: ListRequest): Promise<FileListing>;
  read(path: string, request: ReadRequest): Promise<FileContent>;
  /** What is below a folder, as far as it fits; no link is followed. */
  findEntries(folder: string, options: CallOptions): Promise<FoundEntries>;
  /** In the order of the request; the last ones are missing when there was no time for them. */
  readBatch(folder: string, request: BatchRequest): Promise<readonly BatchFile[]>;
  /** Creates or replaces a file atomically, once all of it is there; more than `sizeBytes` is refused. */
  write(path: string, content: SizedContent, options: WriteOptions): Promise<void>;
  readTree(path: string, options: CallOptions): AsyncGenerator<TreeEntry, void, undefined>;
  writeTree(
    path: string,
    entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>,
    options: CallOptions,
  ): Promise<void>;
  /** Updates a tree; each file is replaced atomically. */
  update(folder: string, changes: TreeChanges, options: CallOptions): Promise<void>;
  /** Everything in a folder, as an archive that only `unpack` can read. */
  pack(folder: string, request: PackRequest): AsyncGenerator<Uint8Array, void, undefined>;
  /** Restores what `pack` has read into a folder. */
  unpack(folder: string, archive: AsyncIterable<Uint8Array>, options: CallOptions): Promise<void>;
}
