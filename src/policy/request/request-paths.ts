import { utf8Length } from "../../base/streams/utf8.ts";
import { invalidValue } from "./invalid-value.ts";
import { posix } from "node:path";
import { invalidField } from "../../errors/glovebox-error.ts";

/** Longest path in a request, in bytes of UTF-8. */
const maxPathBytes = 1024;
/** Longest name of a file or folder in it, in bytes: what Linux file systems take. */
const maxNameBytes = 255;

/**
 * A path below a folder that it can never leave, whatever the platform: forward slashes, `.` and doubled slashes gone.
 * @throws INVALID_REQUEST naming the field, for what is empty, absolute (on Windows too), holds `..`, a backslash or a
 * control character, ends in a slash, or is too long
 */
export function checkRelativePath(path: string, field: string): string {
  const shown = JSON.stringify(path.slice(0, 80));
  const refuse = (problem: string): Error => invalidValue(field, `${problem}, got ${shown}`);
  if (path === "") throw refuse("expected a relative path such as data/input.csv");
  if (utf8Length(path) > maxPathBytes) throw refuse(`expected at most ${maxPathBytes} bytes`);
  if (!path.isWellFormed()) throw refuse("expected Unicode text");
  if (/\p{Cc}/u.test(path)) throw refuse("expected a path without control characters");
  if (path.includes("\\")) throw refuse("expected forward slashes between folders and no backslash");
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) throw refuse("expected a relative path, not an absolute one");
  if (path.endsWith("/")) throw refuse("expected the path of a file, not of a folder");
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.length === 0 || path.endsWith("/.")) throw refuse("expected the path of a file, not of a folder");
  if (names.includes("..")) throw refuse('expected a path without ".."');
  if (names.some((name) => utf8Length(name) > maxNameBytes))
    throw refuse(`expected names of at most ${maxNameBytes} bytes`);
  return names.join("/");
}

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
