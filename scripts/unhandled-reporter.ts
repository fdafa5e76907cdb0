import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** Names the file for the errors that no test had: vitest's JSON report leaves them out, though they fail the run. */
export const unhandledVariable = "GLOVEBOX_TEST_UNHANDLED";

/** Lines of each that are kept. */
const keptLines = 12;

/** Keeps the errors that came outside of tests, for the end of a long output. */
export default class UnhandledReporter implements Reporter {
  onTestRunEnd(_modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const file = process.env[unhandledVariable];
    if (file !== undefined) writeFileSync(file, JSON.stringify(errors.map(textOf)));
  }
}

/** What a run's reporter kept; empty if it kept nothing. */
export function readUnhandled(file: string): readonly string[] {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as string[]) : [];
}

function textOf({ message, stack }: SerializedError): string {
  return (stack ?? message)
    .split("\n")
    .slice(0, keptLines)
    .map((line) => `  ${line}`)
    .join("\n");
}
