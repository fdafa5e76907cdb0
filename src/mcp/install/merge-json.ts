import { isDeepStrictEqual } from "node:util";
import { applyEdits, modify, parse, type ParseError } from "jsonc-parser";

/**
 * The text of a JSON file, comments allowed, with the value set at the keys; all other values and comments are kept.
 * Null if it already has that value. @throws SyntaxError for a text that cannot be changed safely
 */
export function mergeJson(text: string, keys: readonly string[], value: unknown): string | null {
  const source = text.trim() === "" ? "{}\n" : text;
  const errors: ParseError[] = [];
  let part: unknown = parse(source, errors, { allowTrailingComma: true });
  if (errors.length > 0) throw new SyntaxError("it is not valid JSON");
  for (const key of keys) {
    if (part === undefined) break;
    if (typeof part !== "object" || part === null || Array.isArray(part)) {
      throw new SyntaxError(`${key} has an unexpected form`);
    }
    part = (part as Readonly<Record<string, unknown>>)[key];
  }
  if (isDeepStrictEqual(part, value)) return null;
  const indent = /^[ \t]+(?=")/m.exec(source)?.[0] ?? "  ";
  const formattingOptions = {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol: source.includes("\r\n") ? "\r\n" : "\n",
  };
  return applyEdits(source, modify(source, [...keys], value, { formattingOptions }));
}

/** Parses a text; an empty one has no value. @throws SyntaxError if it is not JSON with comments */
export function readJson(text: string): Readonly<Record<string, unknown>> {
  const errors: ParseError[] = [];
  const value: unknown = text.trim() === "" ? {} : parse(text, errors, { allowTrailingComma: true });
  if (errors.length > 0 || typeof value !== "object" || value === null) throw new SyntaxError("it is not valid JSON");
  return value as Readonly<Record<string, unknown>>;
}
