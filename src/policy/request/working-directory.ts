import { posix } from "node:path";
import { invalidField } from "../../errors/glovebox-error.ts";

const maxLength = 4096;

/**
 * Folder that a command starts in, absolute inside the sandbox; a relative one starts at `base`.
 * It may lead anywhere inside: the sandbox is the wall, not its names.
 * @throws INVALID_REQUEST naming the field
 */
export function resolveWorkingDirectory(given: string | undefined, base: string, field = "cwd"): string {
  if (given === undefined) return base;
  if (given === "" || given.includes("\0") || given.length > maxLength || !given.isWellFormed()) {
    throw invalidField(field, `a path of 1 to ${maxLength} characters without NUL`, given);
  }
  return posix.resolve(base, given);
}
