import type { ErrorType } from "../errors/catalogue.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";

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
