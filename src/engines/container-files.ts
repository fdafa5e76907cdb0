import type { ErrorType } from "../errors/catalogue.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";

/** What a file is. */
export type FileKind = "file" | "folder" | "link" | "fifo" | "socket" | "characterDevice" | "blockDevice";

/** A file as a sandbox has it. Names are bytes; all of it is the programs' choice. */
export interface FileRecord {
  readonly kind: FileKind;
  /** Relative to what was listed; of a tree it may have slashes. Empty for the file itself. */
  readonly name: Buffer;
  /** Of a link, else empty. */
  readonly target: Buffer;
  /** Whether it is a folder of a tree that may not be looked into. */
  readonly isClosed: boolean;
  /** Permission bits. */
  readonly mode: number;
  readonly links: number;
  readonly user: number;
  readonly group: number;
  readonly sizeBytes: bigint;
  readonly inode: bigint;
  /** Nanoseconds since the epoch. */
  readonly modifiedNs: bigint;
}

/** Bounds of one file operation. */
export interface FileLimits {
  /** Gives the operation up. */
  readonly signal?: AbortSignal | undefined;
  /** Default one minute; at most an hour. */
  readonly deadlineMs?: number | undefined;
  /** Entries that are handled at most; default 10,000. */
  readonly maxEntries?: number | undefined;
  /** Bytes that are handled at most; default 1 GiB. */
  readonly maxBytes?: number | undefined;
}

export interface ListLimits extends FileLimits {
  /** How many levels of folders; default 1: the folder's own entries. */
  readonly levels?: number | "all of its file system" | undefined;
  /** Whether what was found until the deadline is an answer too; default false: it is an error. */
  readonly keepsPart?: boolean | undefined;
}

/** Entries of a folder; with more levels their names are paths relative to it. */
export interface FolderListing {
  /** In no order, but a folder comes before what is in it. */
  readonly records: readonly FileRecord[];
  /** Whether there was no more than the limits allow. */
  readonly isWhole: boolean;
}

export interface ReadLimits extends FileLimits {
  /** Default 0. */
  readonly offset?: number | undefined;
  /** Whether a link at the end of the path is followed, as a program of that user would; default false: it is an error. */
  readonly followsLink?: boolean | undefined;
}

/** An open file. */
export interface OpenedFile {
  readonly record: FileRecord;
  /** As they come; no more than the record's size. Must be read, or given up by ending the iteration. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface WriteLimits extends FileLimits {
  /** Permission bits; default: those of the file that is replaced, else 0644. */
  readonly mode?: number | undefined;
  /** Whether missing folders are made, the one that everything is beneath too; default false. */
  readonly makesFolders?: boolean | undefined;
  /** Whether a file that exists is an error; default false. */
  readonly isNew?: boolean | undefined;
  /** As for reading. */
  readonly followsLink?: boolean | undefined;
}

export interface UnpackLimits extends FileLimits, Pick<WriteLimits, "makesFolders"> {
  /**
   * Whether each file is put in its place in one step, as a new one; what stands in the way of a file or folder goes then.
   * Default false.
   */
  readonly replaces?: boolean | undefined;
  /** Whether what stands in the way of a file or folder goes, folders with all that is in them; default false. */
  readonly clears?: boolean | undefined;
}

/** Content for a sandbox, as it comes. */
export type FileContent = AsyncIterable<Uint8Array>;

/**
 * Files beneath one folder of a container, by operations of its supervisor: none of them starts a program. Paths are relative to
 * the folder and no link in them is followed; empty: the folder itself. Names that come from it are the programs' choice.
 *
 * All throw NOT_FOUND, PERMISSION_DENIED, INVALID_REQUEST (a folder instead of a file, a link, a FIFO, an impossible path),
 * POLICY_DENIED for more than the limits or than fits, TIMEOUT, CANCELLED, SANDBOX_LOST.
 */
export interface ContainerFiles {
  list(path: string, limits?: ListLimits): Promise<FolderListing>;
  /** Opens a regular file and nothing else. */
  read(path: string, limits?: ReadLimits): Promise<OpenedFile>;
  /** Readers see the old file or the new one. One that may not be written stays as it is. */
  write(path: string, content: FileContent, limits?: WriteLimits): Promise<void>;
  /** A file, a link itself, or a folder that is empty. */
  remove(path: string, limits?: FileLimits): Promise<void>;
  /**
   * A tar archive of a folder, called `./`, and what is in it, or of one file or link, as it comes. What could not be read is
   * told at its end.
   */
  pack(path: string, limits?: FileLimits): AsyncIterable<Uint8Array>;
  /** Unpacks a tar archive into a folder. */
  unpack(path: string, archive: FileContent, limits?: UnpackLimits): Promise<void>;
}

/** Names of what is wrong with a path, below an error's type: `code` in the context of an error (SPEC AD5). */
export type PathErrorCode =
  | "FILE_NOT_FOUND"
  | "FILE_EXISTS"
  | "IS_A_DIRECTORY"
  | "NOT_A_FILE"
  | "INVALID_PATH"
  | "PERMISSION_DENIED"
  | "NO_SPACE";

interface Row {
  readonly type: ErrorType;
  /** Null: it is not the path's fault. */
  readonly code: PathErrorCode | null;
  /** Completes "PATH ...". */
  readonly says: string;
  readonly suggestion: string;
}

const otherPath = "Name another path; list the folder to see what is there.";

/** What can be wrong with a path in a sandbox. */
const problems = {
  full: {
    type: "POLICY_DENIED",
    code: "NO_SPACE",
    says: "does not fit: the sandbox's writable space is full",
    suggestion: "Remove files in the sandbox or write less, or ask for a larger disk limit.",
  },
  closed: {
    type: "PERMISSION_DENIED",
    code: "PERMISSION_DENIED",
    says: "is not open to the sandbox's user",
    suggestion: "Use a folder that is writable inside the sandbox, such as /work or /tmp.",
  },
  folder: { type: "INVALID_REQUEST", code: "IS_A_DIRECTORY", says: "is a folder", suggestion: otherPath },
  noFolder: {
    type: "INVALID_REQUEST",
    code: "INVALID_PATH",
    says: "leads through something that is no folder",
    suggestion: otherPath,
  },
  special: {
    type: "INVALID_REQUEST",
    code: "NOT_A_FILE",
    says: "is no file but a FIFO, a socket or a device",
    suggestion: otherPath,
  },
  circle: {
    type: "INVALID_REQUEST",
    code: "INVALID_PATH",
    says: "leads through links that go in a circle",
    suggestion: otherPath,
  },
  longName: {
    type: "INVALID_REQUEST",
    code: "INVALID_PATH",
    says: "has a name that is too long",
    suggestion: otherPath,
  },
  missing: {
    type: "NOT_FOUND",
    code: "FILE_NOT_FOUND",
    says: "does not exist in the sandbox",
    suggestion: "Check the path; list the folder to see what is there.",
  },
  exists: { type: "ALREADY_EXISTS", code: "FILE_EXISTS", says: "exists in the sandbox", suggestion: otherPath },
  busy: {
    type: "CAPACITY",
    code: null,
    says: "cannot be opened: the sandbox has too many open files or processes, or no memory",
    suggestion: "End programs in the sandbox, then retry.",
  },
} as const satisfies Readonly<Record<string, Row>>;

export type FileProblem = keyof typeof problems;

/** The error for a path inside; `cause` has the kernel's words. */
export function pathError(path: string, problem: FileProblem | null, cause: Error): GloveboxError {
  if (problem === null) {
    return new GloveboxError("INTERNAL", `${JSON.stringify(path)} could not be moved into or out of the sandbox.`, {
      context: { path },
      cause,
    });
  }
  const { type, code, says, suggestion }: Row = problems[problem];
  const context = { path, ...(code === null ? {} : { code }) };
  return new GloveboxError(type, `${JSON.stringify(path)} ${says}.`, { suggestion, context, cause });
}
