import { countTests, type TestEntry, type TestReport, type TestStatus } from "./test-report.ts";

/** CTRF knows neither errors nor to-dos: its own word, and ours as `rawStatus`. */
const statuses: Readonly<Record<TestStatus, string>> = {
  passed: "passed",
  failed: "failed",
  error: "failed",
  skipped: "skipped",
  todo: "pending",
  other: "other",
};

/** All tests in the Common Test Report Format, as JSON. Times are since the epoch in milliseconds. */
export function toCtrf(
  reports: readonly TestReport[],
  run: { readonly startMs: number; readonly stopMs: number },
): string {
  const tests = reports.flatMap((report) => report.tests);
  const counts = countTests(tests);
  return JSON.stringify({
    reportFormat: "CTRF",
    specVersion: "0.0.0",
    results: {
      tool: { name: [...new Set(reports.map(({ runner }) => runner))].join(", ") },
      summary: {
        tests: tests.length,
        passed: counts.passed,
        failed: counts.failed + counts.error,
        skipped: counts.skipped,
        pending: counts.todo,
        other: counts.other,
        start: run.startMs,
        stop: run.stopMs,
      },
      tests: tests.map(testToCtrf),
    },
  });
}

function testToCtrf({ name, suite, status, file, line, durationMs, message, details }: TestEntry): object {
  return {
    name,
    status: statuses[status],
    duration: durationMs ?? 0,
    rawStatus: status,
    ...(suite.length === 0 ? {} : { suite }),
    ...(file === null ? {} : { filePath: file }),
    ...(line === null ? {} : { line }),
    ...(message === null ? {} : { message }),
    ...(details === null ? {} : { trace: details }),
  };
}
