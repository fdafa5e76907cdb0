import { formatBytes, mebibyte, kibibyte } from "../../base/bytes.ts";
import { invalidUtf8Offset, utf8Length } from "../../base/streams/utf8.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import {
  languageOf,
  languageTable,
  titlesOf,
  type LanguageName,
  type ChosenRuntimeName,
} from "../../languages/language-table.ts";
import { invalidValue } from "./invalid-value.ts";
import { maxArguments } from "../../operations/contract/wire-values.ts";

/** Longest code that a run takes, in bytes of UTF-8: 1 MiB. Larger data belongs in context files. */
export const maxCodeBytes: number = mebibyte;

/**
 * The code of a run as text that encodes to exactly the bytes given: line ends and a byte order mark stay.
 * @throws INVALID_REQUEST when it is empty (white space only counts as that), over `maxCodeBytes`, not UTF-8, or holds a
 * NUL in a language that has none; names the byte's offset
 */
export function checkCode(code: string | Uint8Array, language: LanguageName = "python"): string {
  const field = "code";
  const text = typeof code === "string" ? checkLength(code, utf8Length(code), field) : decode(code, field);
  if (!text.isWellFormed()) {
    throw invalidValue(
      field,
      `expected Unicode text, found half a surrogate pair at character ${loneSurrogateIndex(text)}`,
    );
  }
  const nul = languageOf(language).allowsNul ? -1 : text.indexOf("\0");
  if (nul !== -1) {
    throw invalidValue(field, `expected text without NUL bytes, found one at byte ${utf8Length(text.slice(0, nul))}`);
  }
  if (text.trim() === "") throw invalidValue(field, "expected code, found nothing but white space");
  return text;
}

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

/** The runtime that a request asks for. @throws INVALID_REQUEST for a program that none of them runs */
export function checkRuntime(
  runtime: ChosenRuntimeName | undefined,
  language: LanguageName,
): ChosenRuntimeName | undefined {
  const { title, runtimes } = languageOf(language);
  if (runtime !== undefined && runtimes.every(({ name }) => name !== runtime)) {
    const chosen = languageTable.filter((each) => each.runtimes.length > 1);
    throw invalidValue("runtime", `expected none for ${title}: it chooses what runs ${titlesOf(chosen)}`);
  }
  return runtime;
}

function decode(bytes: Uint8Array, field: string): string {
  checkLength("", bytes.byteLength, field);
  const offset = invalidUtf8Offset(bytes);
  if (offset !== null) {
    throw invalidValue(field, `expected UTF-8 text, found an invalid sequence at byte ${offset}`);
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function checkLength(text: string, byteLength: number, field: string): string {
  if (byteLength > maxCodeBytes) throw tooLong(field, byteLength);
  return text;
}

function tooLong(field: string, byteLength: number): GloveboxError {
  const found = `${byteLength} bytes (${formatBytes(byteLength)})`;
  return invalidValue(
    field,
    `expected at most ${maxCodeBytes} bytes (${formatBytes(maxCodeBytes)}) of code, found ${found}; data can be passed as context files`,
  );
}

/** Index in UTF-16 units of the first half of a surrogate pair that stands alone. */
function loneSurrogateIndex(text: string): number {
  return text.search(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/);
}
