import { becomeProgram, saveRunner, type FailureReport, type Runtime, type SourcePlace } from "./language.ts";

/** Node looks for package.json in the folder where it starts, and remembers that there was none. */
const startScript = `${saveRunner} && cd "$1" || exit 125; ${becomeProgram}`;
const runnerName = "runner.cjs";

export const node = {
  name: "node",
  interpreter: "node",
  image: "language",
  runnerFile: "node-runner.cjs",
  start: ({ interpreter, main, source, runnerFolder }) => [
    ...["sh", "-c", startScript, "sh", runnerFolder, runnerName, source],
    ...[interpreter, "--require", `${runnerFolder}/${runnerName}`, main],
  ],
  environment: {},
  needsCompiling: (path) => /\.[cm]?tsx?$/.test(path) && !/\.d\.[cm]?ts$/.test(path),
  findSyntaxError: findNodeSyntaxError,
  missingModule: /^(?:Uncaught )?Error(?: \[ERR_MODULE_NOT_FOUND\])?: Cannot find (?:package|module) '([^'\n]+)'/gm,
  importedModules: null,
  notebook: {
    main: "main.js",
    files: { "main.js": "javascript-interpreter.cjs" },
    rewritesCode: true,
  },
} as const satisfies Runtime;

export const bun = {
  name: "bun",
  interpreter: "bun",
  image: "session",
  runnerFile: "bun-runner.mjs",
  start: ({ interpreter, source }) => [interpreter, "-e", source],
  environment: {},
  needsCompiling: () => false,
  findSyntaxError: findBunSyntaxError,
  missingModule: /^error: Cannot find (?:package|module) ['"]([^'"\n]+)['"]/gm,
  importedModules: null,
  notebook: node.notebook,
} as const satisfies Runtime;

/** The error and its stack, and then nothing but the version: an error that nobody caught. */
const end = /^\nSyntaxError: ([^\n]+)\n {4}at ([^\n]+)(?:\n {4}at [^\n]+)*(?:\n\s*Node\.js v[^\n]+)?$/;
/** What stands right before: place, line, carets. */
const place = /(?:^|\n)((?:file:\/\/)?\/[^\n]+):(\d+)\n([^\n]*)\n([^\n]*)\n?$/;

/** The innermost frame is the compiler's own; with bad JSON, `eval` or `throw` it is `JSON.parse` or the program. */
const compilerFrame = /\(node:internal\/(?!modules\/esm\/module_job)/;

/**
 * Reads Node 20 to 24.
 * @hostileText Exported for the test that feeds it.
 */
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
    const { host, pathname } = new URL(name);
    return host === "" && !/%2f/i.test(pathname) ? decodeURIComponent(pathname) : name;
  } catch {
    // A program may write what looks like a URL; no file has this name.
    return name;
  }
}

/** Bun's own parser indents its place by four, frames of a running program are indented by six. */
const parserError = /(?:^|\n)error: ([^\n]+)\n {4}at (\/[^\n]+):(\d+):(\d+)(?=\n|$)/;
/** What Bun's parser lets pass and the engine refuses has one frame, without a column. */
const engineError = /(?:^|\n)SyntaxError: ([^\n]+)\n {6}at (\/[^\n]+):(\d+)\n\nBun v[^\n]+$/;

/**
 * Reads Bun 1.4.
 * @hostileText Exported for the test that feeds it.
 */
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
