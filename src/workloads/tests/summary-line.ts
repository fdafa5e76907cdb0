import { runnerOf, runnerTable } from "./runner-table.ts";

/** Counts of a runner's own summary, as it prints it for people: anything can print such lines. */
export interface SummaryCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** How much of the end of an output is examined. */
const maxTail = 16_384;
const maxLine = 1_000;
/** Escape sequences of colours. */
// oxlint-disable-next-line no-control-regex
const colours = /\u001b\[[0-9;]*m/g;

/** The runner that a command names, null when it names no known one. */
export function runnerNamedIn(command: string): string | null {
  return runnerTable.find((row) => row.command?.test(command))?.name ?? null;
}

/** The last summary of this runner at the end of an output, null when there is none. */
export function findSummary(runner: string, output: string): SummaryCounts | null {
  const summary = runnerOf(runner)?.summary;
  if (summary === undefined) return null;
  const lines = output
    .slice(-maxTail)
    .replaceAll(colours, "")
    .split(/\r?\n/)
    .filter((line) => line.length < maxLine);
  const { last } = summary;
  const searched = last === undefined ? lines : lines.filter((line) => last.test(line)).slice(-1);
  const numberOf = (pattern: RegExp): number | null => {
    const line = searched.findLast((each) => pattern.test(each));
    return line === undefined ? null : Number(pattern.exec(line)?.[1]);
  };
  const [passed, failed, skipped] = [numberOf(summary.passed), numberOf(summary.failed), numberOf(summary.skipped)];
  if (passed === null && failed === null && skipped === null) return null;
  return { passed: passed ?? 0, failed: failed ?? 0, skipped: skipped ?? 0 };
}

/** How often `bun test` ends in an output: its only report is about the last time. */
export function countBunSummaries(output: string): number {
  return output.replaceAll(colours, "").match(/^Ran \d+ tests? across \d+ files?\./gm)?.length ?? 0;
}
