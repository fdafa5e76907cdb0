import { importedModules } from "./imported-modules.ts";
import { becomeProgram, saveRunner, type FailureReport, type Runtime, type SourcePlace } from "./language.ts";

const startScript = `${saveRunner} || exit 125; export PYTHONPATH="$1\${PYTHONPATH:+:$PYTHONPATH}"; ${becomeProgram}`;

export const pythonRuntime = {
  name: "python",
  interpreter: "python3",
  image: "language",
  runnerFile: "python-runner.py",
  start: ({ interpreter, main, source, runnerFolder }) => [
    ...["sh", "-c", startScript, "sh", runnerFolder, "sitecustomize.py", source, interpreter, main],
  ],
  // Output arrives as it is printed; bytecode would be written for nothing and lie among the program's files.
  environment: { PYTHONUNBUFFERED: "1", PYTHONDONTWRITEBYTECODE: "1" },
  needsCompiling: () => false,
  findSyntaxError: findPythonSyntaxError,
  missingModule: /^ModuleNotFoundError: No module named '([^'\n]+)'$/gm,
  importedModules,
  notebook: {
    main: "main.py",
    files: { "main.py": "python-interpreter.py", "charts.py": "python-charts.py", "lines.py": "python-lines.py" },
    rewritesCode: false,
  },
} as const satisfies Runtime;

/**
 * A frame of a traceback goes on with `, in NAME`; a place in a file that could not be compiled does not. Then come the
 * line, without its indentation, a line with carets, and the kind of error; each of the first two may be missing.
 */
const place =
  /(?:^|\n) {2}File "([^"\n]+)", line (\d+)\n((?: {4}[^\n]*\n){0,2})(SyntaxError|IndentationError|TabError): ([^\n]+)$/;

/**
 * Reads Python 3.8 to 3.14.
 * @hostileText Exported for the test that feeds it.
 */
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

const codingComment = /^[ \t\f]*#.*?coding[:=][ \t]*([\w.-]{1,40})/;

/** Only the first two lines count, and they are short. */
const headCharacters = 2000;

/** The encoding that a Python program names in its first two lines (PEP 263), as it is written there; null if none. */
export function codingLine(program: string): string | null {
  const [first = "", second = ""] = program.slice(0, headCharacters).split(/\r\n?|\n/, 2);
  const isSecondRead = /^\uFEFF?[ \t\f]*(?:#|$)/.test(first);
  return (codingComment.exec(first) ?? (isSecondRead ? codingComment.exec(second) : null))?.[1] ?? null;
}

/**
 * A warning for a Python program whose coding line names another encoding than UTF-8, which every program is written in:
 * Python obeys the line, and shows other characters than the program's author. None where all characters are ASCII.
 */
export function codingNotices(code: string): readonly string[] {
  const named = codingLine(code);
  if (named === null || /^utf[-_]?8(?:[-_]|$)/i.test(named) || /^[\0-\x7f]*$/.test(code)) return [];
  return [
    `Python reads the program's characters beyond ASCII as ${named}, because its coding line says so, but the program is in UTF-8. Let the line say utf-8.`,
  ];
}
