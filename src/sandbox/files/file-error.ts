import { pathError, type FileProblem, type PathErrorCode } from "../../engines/container-files.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { ErrorType } from "../../errors/catalogue.ts";

interface Row {
  readonly words: RegExp;
  readonly type: ErrorType;
  readonly code: PathErrorCode;
  /** Completes "PATH ...". */
  readonly says: string;
  readonly suggestion: string;
}

const otherPath = "Name another path; list the folder to see what is there.";

/** What the kernel's messages mean; the first match counts. */
const meanings: readonly (readonly [words: RegExp, problem: FileProblem])[] = [
  [/No space left on device|Disk quota exceeded/, "full"],
  [/Permission denied|Operation not permitted|Read-only file system/, "closed"],
  [/Is a directory/, "folder"],
  [/Not a directory/, "noFolder"],
  [/Not a regular file/, "special"],
  [/Too many levels of symbolic links/, "circle"],
  [/File name too long/, "longName"],
  [/No such file/, "missing"],
];

/** What only some ways of moving files can say. */
const rows: readonly Row[] = [
  {
    words: /Link not followed/,
    type: "INVALID_REQUEST",
    code: "INVALID_PATH",
    says: "is a link, or leads through one, which is followed by the sandbox's own programs only",
    suggestion: "Name what it leads to; list the folder to see what is there.",
  },
  {
    words: /Not its own/,
    type: "PERMISSION_DENIED",
    code: "PERMISSION_DENIED",
    says: "is a second name of a file that is not the sandbox's",
    suggestion: otherPath,
  },
];

/** The error for a path that could not be read or written, by the message from inside. */
export function fileError(path: string, said: string): GloveboxError {
  const cause = new Error(said);
  const row = rows.find(({ words }) => words.test(said));
  if (row === undefined) return pathError(path, meanings.find(([words]) => words.test(said))?.[1] ?? null, cause);
  const { type, code, says, suggestion } = row;
  return new GloveboxError(type, `${JSON.stringify(path)} ${says}.`, { suggestion, context: { path, code }, cause });
}

/** The error for a tree that cannot be listed as text. */
export function namesNotUtf8(path: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `${JSON.stringify(path)} holds a name that is not UTF-8.`, {
    suggestion: "Rename it inside the sandbox, or copy its neighbours one by one.",
    context: { path },
  });
}

/** The error for an archive from inside that is none. */
export function badAnswer(subject: string, problem: string): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `The sandbox's answer was refused (${subject}): ${problem}.`, {
    suggestion:
      "A program in the sandbox may have disturbed what answers there: end its background processes, or the sandbox.",
    context: { subject, rule: "answer" },
  });
}
