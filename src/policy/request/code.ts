import { formatBytes, mebibyte } from "../../base/bytes.ts";
import { invalidUtf8Offset, utf8Length } from "../../base/streams/utf8.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import { languageOf, type LanguageName } from "../../languages/language-table.ts";
import { invalidValue } from "./invalid-value.ts";

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
