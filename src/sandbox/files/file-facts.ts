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
export interface TreeLink extends TreePart {
  readonly kind: "link" | "hard-link";
  readonly target: string;
}

export interface TreeOther extends TreePart {
  readonly kind: "other";
}

/**
 * One entry of a tree that leaves a sandbox. Its names are untrusted: code that saves them elsewhere must check them.
 */
export type TreeEntry = TreeFile | TreeFolder | TreeLink | TreeOther;

/** One entry of a tree that goes into a sandbox. */
export type NewTreeEntry = TreeFile | TreeFolder | TreeLink;
