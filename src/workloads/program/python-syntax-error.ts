import type { FailureReport } from "./failure-report.ts";
import type { SourcePlace } from "./source-place.ts";

/**
 * A frame of a traceback goes on with `, in NAME`; a place in a file that could not be compiled does not. Then come the
 * line, without its indentation, a line with carets, and the kind of error; each of the first two may be missing.
 */
const place =
  /(?:^|\n) {2}File "([^"\n]+)", line (\d+)\n((?: {4}[^\n]*\n){0,2})(SyntaxError|IndentationError|TabError): ([^\n]+)$/;

/** Reads Python 3.8 to 3.14. */
export function findPythonSyntaxError({ stderr, files }: FailureReport): SourcePlace | null {
  const found = place.exec(stderr);
  const [, path = "", number = "", shown = "", kind = "", message = ""] = found ?? [];
  const file = files.get(path);
  if (file === undefined) return null;
  const line = Math.max(1, Number(number));
  const text = new TextDecoder().decode(file.content).split(/\r\n|[\n\r]/)[line - 1] ?? "";
  const column = kind === "SyntaxError" ? caretColumn(text, shown) : text.length - text.trimStart().length + 1;
  return { file: file.path, line, column, message };
}

/** The carets are below the line as it is shown, four spaces in. */
function caretColumn(text: string, shown: string): number | null {
  const [line = "", carets = ""] = shown.split("\n");
  const caret = carets.indexOf("^") - 4;
  if (caret < 0) return null;
  const cut = Math.max(0, text.indexOf(line.slice(4).trimEnd()));
  return cut + lengthBefore(text.slice(cut), caret) + 1;
}

/**
 * UTF-16 units before the caret. Python 3.9 to 3.12 place it by bytes, others by characters, and nothing tells which it
 * was: bytes it is, unless they end inside a character or at no word.
 */
function lengthBefore(text: string, caret: number): number {
  const bytes = Buffer.from(text);
  const before = bytes.subarray(0, caret).toString();
  const byBytes = before.length + Math.max(0, caret - bytes.length);
  if (text.startsWith(before) && /^(\S|$)/.test(text.slice(byBytes))) return byBytes;
  const characters = Array.from(text).slice(0, caret);
  return characters.join("").length + caret - characters.length;
}
