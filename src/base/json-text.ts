import { GloveboxError } from "../errors/glovebox-error.ts";

/** Maximum values in one JSON text: more than the largest valid request has (65,000 arguments). */
export const maxJsonValues = 100_000;
/** Maximum depth of lists and objects: no request of ours is deeper than 8. */
export const maxJsonDepth = 64;
/** Maximum names in one object: four times what the largest valid one has (256 variables). Those with more are slow to handle. */
export const maxJsonNames = 1_000;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/**
 * Looks once over the bytes of a JSON text, without building anything of it: parsing 16 MiB of `{},{},` would take
 * hundreds of megabytes and seconds. Counts values by what separates and opens them; a text that is not JSON is left to
 * the parser.
 * @throws INVALID_REQUEST for more than 100,000 values, more than 1,000 names in one object, or lists and objects nested
 * deeper than 64
 */
export function assertBoundedJson(bytes: Uint8Array): void {
  let [values, depth] = [1, 0];
  /** Items of the lists and objects that are open; of lists below all bounds. */
  const names: number[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (byte === comma) {
      values += 1;
      const count = (names[depth] ?? 0) + 1;
      names[depth] = count;
      if (count >= maxJsonNames) throw tooMuch(`at most ${maxJsonNames} names in each object`, "more");
    } else if (byte === openList || byte === openObject) {
      // Each item but the first has its comma.
      if (bytes[at + 1] !== closeList && bytes[at + 1] !== closeObject) values += 1;
      depth += 1;
      names[depth] = byte === openObject ? 0 : -maxJsonValues;
    } else if (byte === closeList || byte === closeObject) depth -= 1;
    if (values > maxJsonValues) throw tooMuch(`at most ${maxJsonValues} values in one JSON text`, "more");
    if (depth > maxJsonDepth) throw tooMuch(`lists and objects at most ${maxJsonDepth} deep`, "deeper ones");
  }
}

/** JSON in which objects that are equal have equal texts: keys in the order of their code units, nothing undefined, no space. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (isRecord(part) ? sorted(part) : part));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sorted(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Where the string that begins there ends, or the last byte. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let end = bytes.indexOf(quote, start + 1); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let before = end - 1;
    while (bytes[before] === backslash) before -= 1;
    // An even number of backslashes escapes itself, not the quote.
    if ((end - before) % 2 === 1) return end;
  }
  return bytes.length;
}

function tooMuch(expected: string, found: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `body: expected ${expected}, found ${found}.`, {
    suggestion: "Send what is long as text in one field, such as a file's content, or in several requests.",
    context: { field: "body", max_values: maxJsonValues, max_depth: maxJsonDepth, max_names: maxJsonNames },
  });
}
