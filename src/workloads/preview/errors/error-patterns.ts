/** How the end of an error is recognised: by the tool that found it, or by silence. */
export type ErrorNature = "build" | "stack";

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

export function headOf(line: string): ErrorNature | null {
  return heads.find(({ form }) => form.test(line))?.nature ?? null;
}

export function isRecovery(line: string): boolean {
  return recoveries.some((form) => form.test(line));
}

/** Whether a line shows that those before it were an error, without a head of its own. */
export function provesError(line: string): boolean {
  return frame.test(line) || pythonSyntax.test(line);
}

/** How many of the lines before belong to it: from what was thrown, or where Python found it. */
export function linesBefore(earlier: readonly string[]): number {
  const from = earlier.findLastIndex((line) => thrown.test(line) || pythonPlace.test(line));
  return from === -1 ? Math.min(1, earlier.length) : earlier.length - from;
}
