import type { FailureReport } from "./failure-report.ts";
import type { SourcePlace } from "./source-place.ts";

/** Bun's own parser indents its place by four, frames of a running program are indented by six. */
const parserError = /(?:^|\n)error: ([^\n]+)\n {4}at (\/[^\n]+):(\d+):(\d+)(?=\n|$)/;
/** What Bun's parser lets pass and the engine refuses has one frame, without a column. */
const engineError = /(?:^|\n)SyntaxError: ([^\n]+)\n {6}at (\/[^\n]+):(\d+)\n\nBun v[^\n]+$/;

/** Reads Bun 1.4. */
export function findBunSyntaxError({ stderr, files }: FailureReport): SourcePlace | null {
  const [, message = "", path = "", line = "", column] =
    parserError.exec(lastReport(stderr)) ?? engineError.exec(stderr) ?? [];
  const file = files.get(path);
  if (file === undefined) return null;
  return { file: file.path, line: Number(line), column: column === undefined ? null : Number(column), message };
}

/** The last error with those that Bun found beside it: they come with a blank line between them, ended by the version. */
function lastReport(stderr: string): string {
  const errors = stderr.replace(/\n\nBun v[^\n]+$/, "");
  const running = errors.lastIndexOf("\n      at ");
  return running === -1 ? errors : errors.slice(running + 1);
}
