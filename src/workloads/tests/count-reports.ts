import type { CallOptions } from "../../engines/engine.ts";
import type { CollectedReports } from "./inside/collect-reports.ts";
import { copyFolder } from "../project/copy-project.ts";
import { readReports, type ReadReports } from "./report/read-reports.ts";
import { testStatuses, type TestCounts, type TestStatus } from "./report/test-report.ts";
import { countBunSummaries, findSummary, runnerNamedIn } from "./summary-line.ts";
import { uncounted, type CountedTests } from "./tests-result.ts";
import type { TestsSpec } from "./tests-spec.ts";
import type { EndedTests, ReportState } from "./verdict.ts";

/** The numbers of a run, and what its verdict needs to know of them. */
export interface CountedReports {
  readonly counted: CountedTests;
  readonly state: ReportState;
  readonly runs: EndedTests["runs"];
}

interface CountOptions extends CallOptions {
  readonly executable: string;
  readonly platform: NodeJS.Platform;
  readonly output: string;
  readonly startMs: number;
  readonly now: () => number;
}

/** Counts by the reports, or where there are none by what the runner printed. @throws CANCELLED */
export async function countReports(
  { testCommand, wanted }: TestsSpec,
  collected: CollectedReports | null,
  { output, startMs, now, ...options }: CountOptions,
): Promise<CountedReports> {
  if (collected === null) return { counted: uncounted, state: "missing", runs: [] };
  const runner = collected.started ?? runnerNamedIn(testCommand);
  if (collected.state !== "read") return bySummary(collected.state, runner, output);
  const header = { folder: copyFolder, wanted, startMs, stopMs: now() };
  const read = await readReports(collected.reports, { ...header, ...options });
  const hasBun = collected.reports.some(({ format }) => format === "bun");
  if (read === null || (hasBun && !agreesWithBun(read, output))) return bySummary("unreadable", runner, output);
  const runs = hasBun ? read.runs.map((run) => withUnloaded(run, output)) : read.runs;
  return {
    counted: {
      ...byReport(read),
      from: sourceOf(collected.reports),
      counts: sumOf(runs.map(({ counts }) => counts)),
    },
    state: "read",
    runs,
  };
}

function byReport({ failures, coverage, runs, ctrf, junit, packed }: ReadReports): CountedTests {
  const runners = [...new Set(runs.map(({ runner }) => runner))];
  return { ...uncounted, from: "report", failures, coverage, runners, ctrf, junit, packed };
}

function sourceOf(reports: CollectedReports["reports"]): CountedTests["from"] {
  if (reports.some(({ format }) => format === "file")) return "report_file";
  return reports.some(({ format }) => format === "cargo") ? "output" : "report";
}

function sumOf(all: readonly TestCounts[]): TestCounts {
  const sum = (status: TestStatus): number => all.reduce((total, counts) => total + counts[status], 0);
  return Object.fromEntries(testStatuses.map((status) => [status, sum(status)])) as Record<TestStatus, number>;
}

/** Bun signs nothing: its report counts only with the same number of tests that passed as Bun prints, once, at its end. */
function agreesWithBun({ runs }: ReadReports, output: string): boolean {
  const printed = countBunSummaries(output) === 1 ? findSummary("bun", output) : null;
  const passed = sumOf(runs.filter(({ runner }) => runner === "bun").map(({ counts }) => counts)).passed;
  return printed !== null && printed.passed === passed;
}

/** Files that Bun could not load are failures that its summary counts and its report leaves out. */
function withUnloaded(run: EndedTests["runs"][number], output: string): EndedTests["runs"][number] {
  const summary = run.runner === "bun" ? findSummary("bun", output) : null;
  if (summary === null || summary.failed <= run.counts.failed) return run;
  return { ...run, counts: { ...run.counts, failed: summary.failed } };
}

function bySummary(state: ReportState, runner: string | null, output: string): CountedReports {
  const found = runner === null || runner === "" ? null : findSummary(runner, output);
  if (runner === null || found === null) return { counted: uncounted, state, runs: [] };
  const counts = { ...uncounted.counts, ...found };
  return { counted: { ...uncounted, from: "summary", counts, runners: [runner] }, state, runs: [] };
}
