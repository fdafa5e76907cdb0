/** What stands at a path; `other`: a FIFO, a socket or a device, which is never opened. */
export type FileKind = "file" | "folder" | "link" | "other";

/** One line of a listing. */
export interface FileFacts {
  /** Relative to the folder that was listed. */
  readonly path: string;
  /** Whether `path` names it: false when the name is not UTF-8, whose bad bytes `path` shows as U+FFFD. */
  readonly isAddressable: boolean;
  readonly kind: FileKind;
  /** 0 for all but files. */
  readonly sizeBytes: number;
  /** Permissions, such as 0o644. */
  readonly mode: number;
  /** Whole seconds, in milliseconds since the epoch. */
  readonly modifiedAtMs: number;
}

export interface FileListing {
  /** By path, in order of their bytes. */
  readonly entries: readonly FileFacts[];
  /** Whether there was more than was asked for. */
  readonly isTruncated: boolean;
}

/** Content whose size is known before it is sent. */
export interface SizedContent {
  readonly sizeBytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

interface TreePart {
  /** Relative, with forward slashes; empty for the folder that was asked for itself. */
  readonly path: string;
  readonly mode: number;
  readonly modifiedAtMs: number;
}

/** A file of a tree; its content must be read, or given up, before the next entry comes. */
export interface TreeFile extends TreePart, SizedContent {
  readonly kind: "file";
}

export interface TreeFolder extends TreePart {
  readonly kind: "folder";
}

/** `hard-link`: a second name of the file at `target`, a path of the same tree that came before. */
export interface TreeLink extends TreePart {
  readonly kind: "link" | "hard-link";
  readonly target: string;
}

export interface TreeOther extends TreePart {
  readonly kind: "other";
}

/** One entry of a tree that leaves a sandbox. Its names are the program's: whoever saves them elsewhere checks them. */
export type TreeEntry = TreeFile | TreeFolder | TreeLink | TreeOther;

/** One entry of a tree that goes into a sandbox. */
export type NewTreeEntry = TreeFile | TreeFolder | TreeLink;
