/** How many tests of one run ended in each way. */
export interface ReportCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

/**
 * Counts vitest's JSON report; null stands for a missing one. A file that failed without a failed test, a missing
 * report, a run without any test and an exit code without any failure each count as one failure, so that nothing broken
 * is counted as passed.
 */
export function countReport(text: string | null, exitCode: number): ReportCounts {
  const files = text === null ? [] : (JSON.parse(text) as Report).testResults;
  let [passed, failed, skipped] = [0, 0, 0];
  for (const file of files) {
    const statuses = file.assertionResults.map((test) => test.status);
    const failedTests = statuses.filter((status) => status === "failed").length;
    const passedTests = statuses.filter((status) => status === "passed").length;
    passed += passedTests;
    failed += file.status === "failed" ? Math.max(failedTests, 1) : failedTests;
    skipped += statuses.length - passedTests - failedTests;
  }
  if (failed === 0 && (exitCode !== 0 || passed + skipped === 0)) failed = 1;
  return { passed, failed, skipped };
}
