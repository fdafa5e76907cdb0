import { countTests, type TestEntry, type TestReport, type TestStatus } from "./test-report.ts";
import { promisify } from "node:util";
import { gunzip, gzipSync } from "node:zlib";
import { mebibyte } from "../../../base/bytes.ts";

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

/** Bytes of a report that is kept, compressed and as it was. */
export const maxPackedBytes: number = 2 * mebibyte;
const maxUnpackedBytes: number = 64 * mebibyte;

/**
 * All tests in CTRF, compressed with gzip; where that is too large, without the details of failures, then without their
 * messages. Null: too large still.
 */
export function packReport(
  reports: readonly TestReport[],
  run: { readonly startMs: number; readonly stopMs: number },
): Uint8Array | null {
  for (const without of [{}, { details: null }, { details: null, message: null }]) {
    const shown = reports.map((report) => ({
      ...report,
      tests: report.tests.map((test) => ({ ...test, ...without })),
    }));
    const text = Buffer.from(toCtrf(shown, run));
    if (text.length > maxUnpackedBytes) continue;
    const packed = gzipSync(text);
    if (packed.length <= maxPackedBytes) return packed;
  }
  return null;
}

/** The CTRF of a packed report. @throws RangeError or Node's error for anything that `packReport` has not made */
export async function unpackReport(packed: Uint8Array): Promise<string> {
  return (await promisify(gunzip)(packed, { maxOutputLength: maxUnpackedBytes })).toString("utf8");
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
