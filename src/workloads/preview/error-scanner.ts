import { copyFolder } from "../project/copy-project.ts";

/** Where an error is, in a file of the project where one is named. */
interface ErrorPlace {
  /** Relative to the project. */
  readonly file: string;
  readonly line: number;
}

/**
 * Forms in which tools name a place, the clearest first. A program writes the lines, as many as it likes: a path is tried from
 * where it begins, and not from each of its characters.
 */
const forms: readonly RegExp[] = [
  /^\s*File: (?<file>.+?):(?<line>\d+)(?::\d+)?\s*$/,
  /[╭┌]─{1,8}\[\s{0,8}(?<file>.{1,400}?):(?<line>\d+):\d+\s{0,8}\]/,
  /^ERROR in (?<file>\S+) (?<line>\d+):\d+/,
  /(?<![^\s(:"'])(?<file>[^\s(:"']{1,400}\.\w{1,20}): .{0,400}\((?<line>\d+):\d+\)/,
  /(?<![^\s(:"'[])(?<file>(?:file:\/\/)?[^\s(:"'[]{1,400}\.(?:[cm]?[jt]sx?|vue|svelte|astro|css|scss|less|html|json|mdx?)):(?<line>\d+)/,
];
const pythonForm = /File "(?<file>[^"]+)", line (?<line>\d+)/;
/** Not the project's own. */
const foreign = /(?:^|\/)(?:node_modules|site-packages|dist-packages|lib\/python[\d.]*)\/|^node:|^<|^internal\//;

/** The place that an error's lines name first; of Python's calls the last, where it was raised. Null: none. */
export function placeOfError(lines: readonly string[]): ErrorPlace | null {
  const python = lines.flatMap((line) => placeIn(line, pythonForm) ?? []);
  const last = python.at(-1);
  if (last !== undefined) return last;
  for (const form of forms) {
    const [first] = lines.flatMap((line) => placeIn(line, form) ?? []);
    if (first !== undefined) return first;
  }
  return null;
}

/** How the end of an error is recognised: by the tool that found it, or by silence. */
type ErrorNature = "build" | "stack";

interface Head {
  readonly form: RegExp;
  readonly nature: ErrorNature;
}

/**
 * Lines with which an error begins; the first match decides. A program writes them, so no pattern here tries one part of a
 * line from many places: what may stand between two words is bounded.
 */
const heads: readonly Head[] = [
  // Vite, and what is built on it.
  { form: /\[vite\].{0,400}\b(?:error|failed to)\b/i, nature: "build" },
  { form: /\bPre-transform error:|^\s*Failed to resolve import /, nature: "build" },
  // esbuild, Rolldown.
  { form: /^\s*[✘X✗] \[ERROR\]/, nature: "build" },
  { form: /\[(?:PARSE_ERROR|UNRESOLVED_IMPORT|UNRESOLVED_ENTRY|MISSING_EXPORT|TRANSFORM_ERROR)\]/, nature: "build" },
  // Next.
  { form: /^\s*⨯\s/, nature: "build" },
  { form: /^\[browser\] \S+\.\w+:\d+:\d+$/, nature: "build" },
  { form: /^Failed to compile\b/, nature: "build" },
  // webpack, and what is built on it.
  { form: /^ERROR in \S/, nature: "build" },
  { form: /^\s*Module (?:build failed|not found: Error)\b/, nature: "build" },
  // Python.
  { form: /^Traceback \(most recent call last\):/, nature: "stack" },
];

/** Lines with which the same tools report that what they build works again. */
const recoveries: readonly RegExp[] = [
  /\[vite\].{0,400}\b(?:hmr update|page reload|hmr invalidate)\b/i,
  /^\s*✓ (?:Compiled|Ready)\b/,
  /\bcompiled (?:successfully|with \d+ warnings?)\b/i,
];

/** One call in a stack as V8 and Bun write it. */
const frame = /^\s+at .+:\d+(?::\d+)?\)?,?$/;
/** What stands above those. */
const thrown = /^(?:Uncaught )?(?:\[?[\w$.]*(?:Error|Exception)\b|Uncaught )/;
/** Where Python names a place. */
const pythonPlace = /^\s+File "[^"]+", line \d+/;
const pythonSyntax = /^(?:SyntaxError|IndentationError|TabError): /;

/** @hostileText Exported for the test that feeds it. */
export function headOf(line: string): ErrorNature | null {
  return heads.find(({ form }) => form.test(line))?.nature ?? null;
}

/** @hostileText Exported for the test that feeds it. */
export function isRecovery(line: string): boolean {
  return recoveries.some((form) => form.test(line));
}

/**
 * Whether a line shows that those before it were an error, without a head of its own.
 * @hostileText Exported for the test that feeds it.
 */
export function provesError(line: string): boolean {
  return frame.test(line) || pythonSyntax.test(line);
}

/** An error that a preview's program has reported. */
export interface PreviewError {
  readonly nature: ErrorNature | "exit" | "silence";
  /** One line. */
  readonly summary: string;
  /** Null: no file of the project is named. */
  readonly place: ErrorPlace | null;
  /** The newest part of its output about it. */
  readonly lines: readonly string[];
}

export interface ErrorScannerListener {
  readonly onError: (error: PreviewError) => void;
  /** The build works again. */
  readonly onRecovery: () => void;
}

/** Lines of one error: what is beyond belongs to no alert. */
const max = { lines: 30, characters: 500 } as const;
/** Lines in which what was thrown is looked for. */
const earlierLines = 8;

/** Finds errors in the lines of a program, each with the lines that follow it. */
export class ErrorScanner {
  readonly #listener: ErrorScannerListener;
  #earlier: string[] = [];
  #open: { readonly nature: ErrorNature; readonly lines: string[] } | null = null;

  constructor(listener: ErrorScannerListener) {
    this.#listener = listener;
  }

  /** Whether lines of an error wait for those that follow: `flush` when none come. */
  get isOpen(): boolean {
    return this.#open !== null;
  }

  /** One line without control sequences. */
  line(whole: string): void {
    const line = whole.slice(0, max.characters);
    if (isRecovery(line)) {
      this.flush();
      this.#listener.onRecovery();
    } else {
      this.#take(line);
    }
    this.#earlier = [...this.#earlier.slice(1 - earlierLines), line];
  }

  /** Nothing follows for now: the open error is reported. */
  flush(): void {
    const open = this.#open;
    this.#open = null;
    if (open === null) return;
    this.#earlier = [];
    const lines = open.lines.join("\n").trimEnd().split("\n");
    this.#listener.onError({ nature: open.nature, summary: summaryOf(lines), place: placeOfError(lines), lines });
  }

  #take(line: string): void {
    const nature = headOf(line);
    if (nature !== null && (this.#open === null || this.#open.lines.length > 1)) {
      this.flush();
      this.#open = { nature, lines: [line] };
    } else if (this.#open !== null) {
      this.#open.lines.push(line);
    } else if (provesError(line)) {
      const before = this.#earlier.slice(this.#earlier.length - linesBefore(this.#earlier));
      this.#open = { nature: "stack", lines: [...before, line] };
    }
    if ((this.#open?.lines.length ?? 0) >= max.lines) this.flush();
  }
}

/** What was wrong: the line that says so, which of Python's is the last. */
function summaryOf(lines: readonly string[]): string {
  const isPython = lines.some((line) => /^\s*File "[^"]+", line \d+/.test(line));
  const told = isPython ? lines.findLast((line) => /^[\w.]+(?:: |$)/.test(line)) : undefined;
  return (told ?? lines.find((line) => line.trim() !== "") ?? "").trim();
}

function placeIn(line: string, form: RegExp): ErrorPlace | null {
  const { file, line: number } = form.exec(line)?.groups ?? {};
  if (file === undefined || number === undefined) return null;
  const path = file.trim().replace(/^file:\/\//, "");
  if (foreign.test(path)) return null;
  const prefix = `${copyFolder}/`;
  const own = path.startsWith(prefix) ? path.slice(prefix.length) : path.replace(/^(?:\.\/|webpack:\/\/\/?)/, "");
  return { file: own, line: Number(number) };
}

/** How many of the lines before belong to it: from what was thrown, or where Python found it. */
function linesBefore(earlier: readonly string[]): number {
  const from = earlier.findLastIndex((line) => thrown.test(line) || pythonPlace.test(line));
  return from === -1 ? Math.min(1, earlier.length) : earlier.length - from;
}
