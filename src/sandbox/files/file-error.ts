import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { ErrorType } from "../../errors/catalogue.ts";

interface Row {
  readonly words: RegExp;
  readonly type: ErrorType;
  /** Completes "PATH ...". */
  readonly says: string;
  readonly suggestion: string;
}

const otherPath = "Name another path; list the folder to see what is there.";

/** What messages of programs inside mean in the catalogue; the first match counts. */
const rows: readonly Row[] = [
  {
    words: /No space left on device|Disk quota exceeded/,
    type: "POLICY_DENIED",
    says: "does not fit: the sandbox's writable space is full",
    suggestion: "Remove files in the sandbox or write less, or ask for a larger disk limit.",
  },
  {
    words: /Permission denied|Operation not permitted|Read-only file system/,
    type: "PERMISSION_DENIED",
    says: "is not open to the sandbox's user",
    suggestion: "Use a folder that is writable inside the sandbox, such as /work or /tmp.",
  },
  { words: /Is a directory/, type: "INVALID_REQUEST", says: "is a folder", suggestion: otherPath },
  {
    words: /Not a directory/,
    type: "INVALID_REQUEST",
    says: "leads through something that is no folder",
    suggestion: otherPath,
  },
  {
    words: /Not a regular file/,
    type: "INVALID_REQUEST",
    says: "is no file but a FIFO, a socket or a device",
    suggestion: otherPath,
  },
  {
    words: /Link not followed/,
    type: "INVALID_REQUEST",
    says: "is a link, or leads through one, which is followed by the sandbox's own programs only",
    suggestion: "Name what it leads to; list the folder to see what is there.",
  },
  {
    words: /Not its own/,
    type: "PERMISSION_DENIED",
    says: "is a second name of a file that is not the sandbox's",
    suggestion: otherPath,
  },
  {
    words: /Too many levels of symbolic links|[Ss]ymbolic link loop/,
    type: "INVALID_REQUEST",
    says: "leads through links that go in a circle",
    suggestion: otherPath,
  },
  { words: /File name too long/, type: "INVALID_REQUEST", says: "has a name that is too long", suggestion: otherPath },
  {
    words: /No such file|nonexistent directory/,
    type: "NOT_FOUND",
    says: "does not exist in the sandbox",
    suggestion: "Check the path; list the folder to see what is there.",
  },
  {
    words: /No tar/,
    type: "UNSUPPORTED",
    says: "cannot be copied as a tree: the sandbox's image has no tar",
    suggestion: "Use an image that has tar, or copy file by file.",
  },
];

/** Messages of tar about files that changed meanwhile or cannot be archived: the reader still gets the rest. */
const harmless =
  /^tar: .*No such file or directory$|changed as we read it|removed before we read it|shrank by|socket ignored|unknown file type|Removing leading|previous errors|time stamp .* in the future|implausibly old/;

/** The message of a failure; null if there is none. */
export function failureWords(said: string): string | null {
  const lines = said.split("\n").filter((line) => line.trim() !== "" && !harmless.test(line));
  return lines.length === 0 ? null : lines.join("\n");
}

/** The error for a path that could not be read or written, by the message from inside. */
export function fileError(path: string, said: string): GloveboxError {
  const row = rows.find(({ words }) => words.test(said));
  const cause = new Error(said);
  if (row === undefined) {
    return new GloveboxError("INTERNAL", `${JSON.stringify(path)} could not be moved into or out of the sandbox.`, {
      context: { path },
      cause,
    });
  }
  const { type, says, suggestion } = row;
  return new GloveboxError(type, `${JSON.stringify(path)} ${says}.`, { suggestion, context: { path }, cause });
}

/** The error for a tree that cannot be listed as text. */
export function namesNotUtf8(path: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `${JSON.stringify(path)} holds a name that is not UTF-8.`, {
    suggestion: "Rename it inside the sandbox, or copy its neighbours one by one.",
    context: { path },
  });
}
