import { parseBunReport } from "./formats/parse-bun-report.ts";
import { parseCargoReport } from "./formats/parse-cargo-report.ts";
import { parseFileReport } from "./formats/parse-file-report.ts";
import { parseGoReport } from "./formats/parse-go-report.ts";
import { parseReport } from "./formats/parse-report.ts";
import { numbered } from "./numbered-name.ts";
import { countTests, fullName, type TestCounts, type TestEntry, type TestReport } from "./test-report.ts";
import { packReport } from "./packed-report.ts";
import { toCtrf } from "./to-ctrf.ts";
import { toJunit } from "./to-junit.ts";

/** What wrote a report: our reporters, Bun, a shell that took down what Go or Cargo printed, or any tool that a request names. */
export type ReportFormat = "glovebox" | "bun" | "go" | "cargo" | "file";

/** What the child gets before the reports' bytes. */
export interface ReportsHeader {
  /** In the order in which the runners started. */
  readonly reports: readonly { readonly format: ReportFormat; readonly sizeBytes: number }[];
  /** The project's folder inside. */
  readonly folder: string;
  readonly wanted: { readonly ctrf: boolean; readonly junit: boolean };
  readonly startMs: number;
  readonly stopMs: number;
}

/** A test that failed or could not be run. */
export interface TestFailure {
  readonly name: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
  readonly details: string;
}

/** What one start of a runner counts, and what began in it without reporting its end. */
export interface ReportedRun {
  readonly runner: string;
  readonly counts: TestCounts;
  readonly unfinished: readonly string[];
}

/** What the child answers before the requested texts. */
export interface ReportsSummary {
  readonly runs: readonly ReportedRun[];
  /** The first ones. */
  readonly failures: readonly TestFailure[];
  readonly coverage: number | null;
  /** Bytes of each text, which follow in this order; null: not requested. */
  readonly ctrfBytes: number | null;
  readonly junitBytes: number | null;
  /** As `packReport` makes it; null: too much to be kept. */
  readonly packedBytes: number | null;
}

/** Maximum failures in an answer; the whole report has all of them. */
export const maxFailures = 100;

/** Characters of one failure; our reporters respect this, others need not. */
const maxText = { name: 4_096, message: 4_096, details: 16_384 };

const parsers: Readonly<Record<ReportFormat, (text: string, folder: string) => TestReport>> = {
  glovebox: parseReport,
  bun: parseBunReport,
  go: parseGoReport,
  cargo: parseCargoReport,
  file: parseFileReport,
};

/** Reads all reports of a run and gives their result: pure, for a process that hostile input may end. */
export function summariseReports(
  header: ReportsHeader,
  texts: readonly string[],
): { readonly summary: ReportsSummary; readonly ctrf: string; readonly junit: string; readonly packed: Uint8Array } {
  const reports = header.reports.map(({ format }, index) => parsers[format](texts[index] ?? "", header.folder));
  const { wanted } = header;
  const ctrf = wanted.ctrf ? toCtrf(reports, header) : "";
  const junit = wanted.junit ? toJunit(reports) : "";
  const packed = packReport(reports, header);
  const failed = reports.flatMap(({ tests }) =>
    tests.filter(({ status }) => status === "failed" || status === "error"),
  );
  const summary = {
    runs: reports.map(({ runner, tests, unfinished }) => ({
      runner,
      counts: countTests(tests),
      unfinished: unfinished.map((name) => name.slice(0, maxText.name)),
    })),
    failures: withOwnNames(failed.slice(0, maxFailures).map(toFailure)),
    coverage: reports.find(({ coverage }) => coverage !== null)?.coverage ?? null,
    ctrfBytes: wanted.ctrf ? Buffer.byteLength(ctrf) : null,
    junitBytes: wanted.junit ? Buffer.byteLength(junit) : null,
    packedBytes: packed?.length ?? null,
  };
  return { summary, ctrf, junit, packed: packed ?? new Uint8Array() };
}

/** Tests of several files, and failures of one test, can have one name: the second is called `name #2`. */
function withOwnNames(failures: readonly TestFailure[]): readonly TestFailure[] {
  const taken = new Set<string>();
  return failures.map((failure) => {
    let { name } = failure;
    for (let time = 2; taken.has(name); time++) name = numbered(failure.name, time);
    taken.add(name);
    return { ...failure, name };
  });
}

function toFailure(test: TestEntry): TestFailure {
  const { file, line, message, details } = test;
  return {
    name: fullName(test).slice(0, maxText.name),
    file: file === null ? null : file.slice(0, maxText.name),
    line,
    message: (message ?? "").slice(0, maxText.message),
    details: (details ?? "").slice(0, maxText.details),
  };
}
