/** Where a text stops being JSON; line and column count from 1. */
interface JsonErrorPosition {
  readonly line: number;
  readonly column: number;
}

const token =
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null))/y;

/** What may come next. `value?` and `key?` allow an empty array or object to close. */
type Expected = "value" | "value?" | "key" | "key?" | "colon" | "separator" | "end";

/** Position of the first syntax error in JSON, null if there is none. `JSON.parse` does not always report it. */
export function jsonErrorPosition(text: string): JsonErrorPosition | null {
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  let offset = 0;
  while (expected !== "end") {
    token.lastIndex = offset;
    const match = token.exec(text);
    if (match === null) return position(text, offset);
    const next: Expected | null = step(expected, match, open);
    if (next === null) return position(text, offset);
    expected = next;
    offset = token.lastIndex;
  }
  return /^[ \t\r\n]*$/.test(text.slice(offset)) ? null : position(text, offset);
}

/** What may come after a token, null if the token is not allowed here; keeps `open` up to date. */
function step(expected: Expected, match: RegExpExecArray, open: ("{" | "[")[]): Expected | null {
  const [, mark, string] = match;
  const closes = (mark === "}" && open.at(-1) === "{") || (mark === "]" && open.at(-1) === "[");
  if (closes && (expected === "separator" || (expected === "value?" && mark === "]") || expected === "key?")) {
    open.pop();
    return open.length === 0 ? "end" : "separator";
  }
  if (expected === "colon") return mark === ":" ? "value" : null;
  if (expected === "separator") {
    if (mark !== ",") return null;
    return open.at(-1) === "{" ? "key" : "value";
  }
  if (expected === "key" || expected === "key?") return string === undefined ? null : "colon";
  if (mark === "{" || mark === "[") {
    open.push(mark);
    return mark === "{" ? "key?" : "value?";
  }
  if (mark !== undefined) return null;
  return open.length === 0 ? "end" : "separator";
}

function position(text: string, offset: number): JsonErrorPosition {
  const at = offset + (/^[ \t\r\n]*/.exec(text.slice(offset))?.[0].length ?? 0);
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}
