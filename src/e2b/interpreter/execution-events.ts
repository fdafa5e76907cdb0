import type { ZodType } from "zod";
import { assertBoundedJson } from "../../base/json/bounded-json.ts";
import { chartMediaType, tableMediaType } from "../../operations/contract/wire-values.ts";
import type { RunCodeResponse } from "../../operations/session/run-code-contract.ts";
import { chartForm, tableForm } from "./chart-form.ts";
import type { ExecutionEvent } from "./execution-stream.ts";

type Display = NonNullable<RunCodeResponse["displays"]>[number];

/** E2B's names of the forms of a value, by media type. */
const formats: Readonly<Record<string, string>> = {
  "text/html": "html",
  "text/markdown": "markdown",
  "image/svg+xml": "svg",
  "image/png": "png",
  "image/jpeg": "jpeg",
  "text/latex": "latex",
};

/** The same of what they show in numbers, with the form that their readers count on. */
const numbers: Readonly<Record<string, readonly [name: string, form: ZodType]>> = {
  [chartMediaType]: ["chart", chartForm],
  [tableMediaType]: ["data", tableForm],
};

/** What a call that has ended tells, in E2B's form: what it showed, and the error that ended it. */
export function eventsOf(answer: RunCodeResponse): readonly ExecutionEvent[] {
  const error = errorOf(answer);
  return [...resultsOf(answer.displays ?? []), ...(error === null ? [] : [error])];
}

/** One result for each value that was shown. */
function resultsOf(displays: readonly Display[]): readonly ExecutionEvent[] {
  return [...Map.groupBy(displays, ({ value }) => value).values()].map((forms) => ({
    type: "result",
    is_main_result: forms.some(({ is_result: isResult }) => isResult),
    ...Object.fromEntries(forms.flatMap(formOf)),
    extra: {},
  }));
}

function formOf({ media_type: type, content }: Display): readonly (readonly [string, unknown])[] {
  if (type === "text/plain") return [["text", unquoted(content)]];
  if (type === "application/json") {
    const json = parseShownJson(content);
    return json === undefined ? [] : [["json", json]];
  }
  const [name, form] = numbers[type] ?? [];
  if (name !== undefined && form !== undefined) {
    const read = form.safeParse(parseShownJson(content));
    return read.success ? [[name, read.data]] : [];
  }
  const format = formats[type];
  return format === undefined ? [] : [[format, content]];
}

/** A text's own quotes are none of it: `'a'` is shown as `a`. */
function unquoted(text: string): string {
  return /^(?:'[^]*'|"[^]*")$/.test(text) ? text.slice(1, -1) : text;
}

/** JSON in a program's words; undefined: it is none, or has more values than are taken. */
export function parseShownJson(content: string): unknown {
  try {
    assertBoundedJson(Buffer.from(content));
    return JSON.parse(content) as unknown;
  } catch {
    return undefined;
  }
}

/** That variables or files are gone, which E2B's form has no field for. */
export function notesOf({ variables_lost: isLost = false, restarted, warnings }: RunCodeResponse): readonly string[] {
  return isLost || restarted ? warnings : [];
}

function errorOf(answer: RunCodeResponse): ExecutionEvent | null {
  const { outcome, exception, error, exit_code: exitCode, variables_lost: isLost = false } = answer;
  if (exception !== undefined) return { type: "error", ...exception };
  if (outcome === "completed") return null;
  if (outcome !== "failed") return errorEvent(error?.error_type ?? outcome, wordsOf(error));
  if (isLost) return errorEvent("UnexpectedEndOfExecution", `The interpreter ended with exit code ${exitCode}.`);
  return errorEvent("SystemExit", String(exitCode));
}

const wordsOf = (error: RunCodeResponse["error"]): string =>
  error === undefined ? "" : `${error.message} ${error.suggestion}`.trim();

/** An error that no traceback of the program's belongs to. */
export function errorEvent(name: string, value: string): ExecutionEvent {
  return { type: "error", name, value, traceback: value === "" ? name : `${name}: ${value}` };
}

/** What a program wrote. */
export function outputEvent(type: "stdout" | "stderr", text: string, nowMs: number): ExecutionEvent {
  return { type, text, timestamp: new Date(nowMs).toISOString() };
}
