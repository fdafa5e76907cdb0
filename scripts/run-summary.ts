import { appendFileSync, readFileSync } from "node:fs";
import type { ReportCounts } from "./count-report.ts";

/** The results of one run of the tests. */
export interface RunSummary extends ReportCounts {
  /** Each has a name and its reasons, on several lines. */
  readonly failures: readonly string[];
  readonly retries: readonly string[];
}

/** The last lines of a run: what was retried, what failed, and the counts. */
export function summaryLines({ passed, failed, skipped, failures, retries }: RunSummary): readonly string[] {
  const retried = retries.length === 0 ? [] : [`${retries.length} passed when they were tried again`];
  return [...retries, ...failures.map((failure) => `\n${failure}`), ...retried].concat(
    `${passed} passed, ${failed} failed, ${skipped} skipped`,
  );
}

/** Adds a run to a file that several runs share. */
export function keepSummary(file: string, summary: RunSummary): void {
  appendFileSync(file, `${JSON.stringify(summary)}\n`);
}

/** The results of all runs in a file together; a run that wrote nothing there counts as a failure. */
export function sumSummaries(file: string, runs: number): RunSummary {
  const lines = readFileSync(file, "utf8").split("\n");
  const summaries = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as RunSummary);
  const sum = (count: (summary: RunSummary) => number): number =>
    summaries.reduce((total, summary) => total + count(summary), 0);
  const missing = Math.max(0, runs - summaries.length);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed) + missing,
    skipped: sum(({ skipped }) => skipped),
    failures: summaries.flatMap(({ failures }) => failures),
    retries: summaries.flatMap(({ retries }) => retries),
  };
}
