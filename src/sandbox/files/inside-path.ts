import type { PathErrorCode } from "../../engines/container-files.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";

/** The kernel's limit (PATH_MAX, including the terminating NUL). */
const maxBytes = 4095;

/**
 * A path inside a sandbox as the scripts take it: absolute, without trailing slashes. It may contain `..` and links,
 * because it is resolved only inside.
 * @throws INVALID_REQUEST
 */
export function insidePath(path: string): string {
  const problem = problemOf(path);
  if (problem === null) return path.replace(/(?<!\/)\/+$/, "") || "/";
  throw new GloveboxError("INVALID_REQUEST", `The path ${JSON.stringify(path.slice(0, 200))} ${problem}.`, {
    suggestion: "Name an absolute path inside the sandbox, such as /work/notes.txt.",
    context: { field: "path", code: "INVALID_PATH" satisfies PathErrorCode },
  });
}

function problemOf(path: string): string | null {
  if (!path.startsWith("/")) return "is not absolute";
  if (path.includes("\0")) return "holds a zero byte";
  if (!path.isWellFormed()) return "is not well-formed Unicode";
  if (Buffer.byteLength(path) > maxBytes) return `is longer than ${maxBytes} bytes`;
  return null;
}
