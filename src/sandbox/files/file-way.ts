import type { CallOptions } from "../../engines/engine.ts";

/** What is at a path; `other`: a FIFO, a socket or a device, which is never opened. */
export type FileKind = "file" | "folder" | "link" | "other";

/** One line of a listing. */
export interface FileFacts {
  /** Relative to the folder that was listed. */
  readonly path: string;
  /** Whether `path` can be used for it: false if the name is not UTF-8; `path` shows its invalid bytes as U+FFFD. */
  readonly isAddressable: boolean;
  readonly kind: FileKind;
  /** 0 for anything but files. */
  readonly sizeBytes: number;
  /** Permissions, such as 0o644. */
  readonly mode: number;
  /** Whole seconds, in milliseconds since the epoch. */
  readonly modifiedAtMs: number;
}

export interface FileListing {
  /** Sorted by the bytes of the path. */
  readonly entries: readonly FileFacts[];
  /** Whether there was more than requested. */
  readonly isTruncated: boolean;
}

/** Content whose size is known before it is sent. */
export interface SizedContent {
  readonly sizeBytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Content whose end alone says how much it was. */
export interface UnsizedContent {
  readonly sizeBytes: null;
  readonly chunks: AsyncIterable<Uint8Array>;
}

interface TreePart {
  /** Relative, with forward slashes; empty for the requested folder itself. */
  readonly path: string;
  readonly mode: number;
  readonly modifiedAtMs: number;
}

/** A file of a tree; its content must be read or abandoned before the next entry. */
export interface TreeFile extends TreePart, SizedContent {
  readonly kind: "file";
}

export interface TreeFolder extends TreePart {
  readonly kind: "folder";
}

/** `hard-link`: another name of the file at `target`, an earlier path of the same tree. */
interface TreeLink extends TreePart {
  readonly kind: "link" | "hard-link";
  readonly target: string;
}

interface TreeOther extends TreePart {
  readonly kind: "other";
}

/**
 * One entry of a tree that leaves a sandbox. Its names are untrusted: code that saves them elsewhere must check them.
 */
export type TreeEntry = TreeFile | TreeFolder | TreeLink | TreeOther;

/** One entry of a tree that goes into a sandbox. */
export type NewTreeEntry = TreeFile | TreeFolder | TreeLink;

/** The changes to a tree. Paths are relative to its folder. */
export interface TreeChanges {
  /** Files, links and folders that are new or changed; the folders above them need no entry. */
  readonly entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>;
  /** Files and links that are gone. */
  readonly gone: readonly string[];
  /** Folders that are gone, innermost first. What the sandbox's programs created in them stays. */
  readonly goneFolders: readonly string[];
}

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
