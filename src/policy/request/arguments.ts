import { maxArguments } from "../../operations/contract/wire-values.ts";
import { kibibyte, mebibyte } from "../../base/bytes.ts";
import { utf8Length } from "../../base/streams/utf8.ts";
import { invalidValue } from "./invalid-value.ts";

/** Most bytes of one argument, as Linux has it: 32 pages, of which the last byte is its end. */
export const maxArgumentBytes: number = 128 * kibibyte - 1;
/** Most bytes of all arguments as Linux counts them, where a stack may have its usual 8 MiB; variables count too. */
const maxAllBytes = 2 * mebibyte;
/** What Linux counts for each beside its text: its end and the pointer to it. */
const besideText = 1 + 8;

/**
 * The arguments of a program, checked; they may be anything that a process can be given, empty ones too.
 * @throws INVALID_REQUEST naming the argument
 */
export function checkArguments(values: readonly string[], field = "args"): readonly string[] {
  if (values.length > maxArguments) {
    throw invalidValue(field, `expected at most ${maxArguments} arguments, found ${values.length}`);
  }
  let allBytes = 0;
  for (const [index, value] of values.entries()) {
    const place = `${field}[${index}]`;
    if (typeof value !== "string") throw invalidValue(place, `expected text, found ${typeof value}`);
    if (value.includes("\0")) throw invalidValue(place, "expected text without NUL characters");
    if (!value.isWellFormed()) throw invalidValue(place, "expected Unicode text, found half a surrogate pair");
    const bytes = utf8Length(value);
    if (bytes > maxArgumentBytes) {
      throw invalidValue(place, `expected at most ${maxArgumentBytes} bytes, found ${bytes}; pass data on stdin`);
    }
    allBytes += bytes + besideText;
  }
  if (allBytes > maxAllBytes) {
    const expected = `expected at most ${maxAllBytes} bytes in all, of which each argument takes ${besideText} more than its text`;
    throw invalidValue(field, `${expected}, found ${allBytes}; pass data on stdin`);
  }
  return Object.freeze([...values]);
}
