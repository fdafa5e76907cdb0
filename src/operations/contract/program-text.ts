import { alertLines } from "./alert-schema.ts";
import type { ProgramResponse } from "./program-schema.ts";

/** A response about a program for an agent to read: the verdict in a line, what to do, the output, then the rest. */
export function programText(response: ProgramResponse, lines: readonly string[]): string {
  const { outcome, exit_code: exitCode, duration_ms: durationMs, error } = response;
  const exit = outcome === "failed" && exitCode !== null ? ` with exit code ${exitCode}` : "";
  return [
    `${outcome}${exit} after ${Math.round(durationMs)} ms (engine ${response.engine}).`,
    ...(error === undefined ? [] : [`${error.error_type}: ${error.message}`, error.suggestion]),
    ...section("stdout", response.stdout),
    ...section("stderr", response.stderr),
    ...(response.truncated ? ["Output beyond the limit was dropped: print less, or write it to a file."] : []),
    ...lines,
    ...alertLines(response.alerts),
    ...warningLines(response.warnings),
  ].join("\n");
}

function section(name: string, text: string): string[] {
  return text === "" ? [] : [`${name}:`, text.replace(/\n$/, "")];
}

/** One line per warning. */
export function warningLines(warnings: readonly string[]): readonly string[] {
  return warnings.map((warning) => `warning: ${warning}`);
}
