import { kibibyte } from "../../base/bytes.ts";

/** Characters of a text that are written at once; a longer one makes its JSON long. */
const partLength = 16 * kibibyte;

/** Whether a text somewhere in the value is so long that its JSON should be written in parts. */
export function hasLongText(value: unknown): boolean {
  if (typeof value === "string") return value.length > partLength;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((each) => hasLongText(each));
}

/** What `JSON.stringify` makes of plain data, in parts: a long text is never copied as a whole. */
export function* jsonParts(value: unknown): Generator<string, undefined> {
  if (!hasLongText(value)) yield JSON.stringify(value) ?? "null";
  else if (typeof value === "string") yield* textParts(value);
  else if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      yield index === 0 ? "[" : ",";
      yield* jsonParts(each);
    }
    yield "]";
  } else {
    let before = "{";
    for (const [name, each] of Object.entries(value as object)) {
      if (each === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* jsonParts(each);
      before = ",";
    }
    yield "}";
  }
}

function* textParts(text: string): Generator<string, undefined> {
  yield '"';
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + partLength, text.length);
    // Half a pair of surrogates would be written as an escape.
    if (to < text.length && isFirstHalf(text.charCodeAt(to - 1))) to -= 1;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
