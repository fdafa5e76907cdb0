import { fileURLToPath } from "node:url";
import type { FailureReport } from "./failure-report.ts";
import type { SourcePlace } from "./source-place.ts";

/** The error and its stack, and then nothing but the version: an error that nobody caught. */
const end = /^\nSyntaxError: ([^\n]+)\n {4}at ([^\n]+)(?:\n {4}at [^\n]+)*(?:\n\s*Node\.js v[^\n]+)?$/;
/** What stands right before: place, line, carets. */
const place = /(?:^|\n)((?:file:\/\/)?\/[^\n]+):(\d+)\n([^\n]*)\n([^\n]*)\n?$/;

/** The innermost frame is the compiler's own; with bad JSON, `eval` or `throw` it is `JSON.parse` or the program. */
const compilerFrame = /\(node:internal\/(?!modules\/esm\/module_job)/;

/** Reads Node 20 to 24. */
export function findNodeSyntaxError({ stderr, files }: FailureReport): SourcePlace | null {
  // Searched from the end, where it stands, and never from every line of a program's output.
  const at = stderr.lastIndexOf("\nSyntaxError: ");
  if (at < 0) return null;
  const [, message = "", frame = ""] = end.exec(stderr.slice(at)) ?? [];
  const [, name = "", line = "", text = "", carets = ""] = place.exec(lastLines(stderr.slice(0, at), 4)) ?? [];
  const file = files.get(pathOf(name));
  if (file === undefined || !compilerFrame.test(frame)) return null;
  const caret = carets.indexOf("^");
  // Without a caret the file ended too early: after its last line.
  return { file: file.path, line: Number(line), column: caret === -1 ? text.length + 1 : caret + 1, message };
}

function lastLines(text: string, count: number): string {
  let from = text.length + 1;
  for (let left = count; left > 0 && from > 0; left -= 1) from = text.lastIndexOf("\n", from - 2) + 1;
  return text.slice(Math.max(from, 0));
}

function pathOf(name: string): string {
  if (!name.startsWith("file:")) return name;
  try {
    return fileURLToPath(name, { windows: false });
  } catch {
    // A program may write what looks like a URL; no file has this name.
    return name;
  }
}
