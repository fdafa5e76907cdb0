import { fileURLToPath } from "node:url";
import type { FailureReport } from "./failure-report.ts";
import type { SourcePlace } from "./source-place.ts";

/** Place, line, carets, the error and its stack, and then nothing but the version: an error that nobody caught. */
const place =
  /(?:^|\n)((?:file:\/\/)?\/[^\n]+):(\d+)\n([^\n]*)\n([^\n]*)\n\n?SyntaxError: ([^\n]+)\n {4}at ([^\n]+)(?:\n {4}at [^\n]+)*(?:\s+Node\.js v[^\n]+)?$/;

/** The innermost frame is the compiler's own; with bad JSON, `eval` or `throw` it is `JSON.parse` or the program. */
const compilerFrame = /\(node:internal\/(?!modules\/esm\/module_job)/;

/** Reads Node 20 to 24. */
export function findNodeSyntaxError({ stderr, files }: FailureReport): SourcePlace | null {
  const found = place.exec(stderr);
  const [, name = "", line = "", text = "", carets = "", message = "", frame = ""] = found ?? [];
  const file = files.get(pathOf(name));
  if (file === undefined || !compilerFrame.test(frame)) return null;
  const caret = carets.indexOf("^");
  // Without a caret the file ended too early: after its last line.
  return { file: file.path, line: Number(line), column: caret === -1 ? text.length + 1 : caret + 1, message };
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
