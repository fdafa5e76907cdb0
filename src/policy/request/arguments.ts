import { kibibyte } from "../../base/bytes.ts";
import { utf8Length } from "../../base/streams/utf8.ts";
import { invalidValue } from "./invalid-value.ts";

/** Most arguments that a program may be given. */
const maxArguments = 1024;
/** Most bytes of all arguments, each with its end; Linux takes no longer single one either. */
export const maxArgumentBytes: number = 128 * kibibyte;

/**
 * The arguments of a program, checked; they may be anything that a process can be given, empty ones too.
 * @throws INVALID_REQUEST naming the argument
 */
export function checkArguments(values: readonly string[], field = "args"): readonly string[] {
  if (values.length > maxArguments) {
    throw invalidValue(field, `expected at most ${maxArguments} arguments, found ${values.length}`);
  }
  let totalBytes = 0;
  for (const [index, value] of values.entries()) {
    const place = `${field}[${index}]`;
    if (typeof value !== "string") throw invalidValue(place, `expected text, found ${typeof value}`);
    if (value.includes("\0")) throw invalidValue(place, "expected text without NUL characters");
    if (!value.isWellFormed()) throw invalidValue(place, "expected Unicode text, found half a surrogate pair");
    totalBytes += utf8Length(value) + 1;
  }
  if (totalBytes > maxArgumentBytes) {
    throw invalidValue(
      field,
      `expected at most ${maxArgumentBytes} bytes in all, found ${totalBytes}; pass data on stdin`,
    );
  }
  return Object.freeze([...values]);
}
