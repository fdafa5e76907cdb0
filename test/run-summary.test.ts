import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { retryReport } from "../scripts/retry-report.ts";
import { slowFiles } from "../scripts/slow-files.ts";
import UnhandledReporter, { readUnhandled, unhandledVariable } from "../scripts/unhandled-reporter.ts";
import { keepSummary, summaryLines, sumSummaries } from "../scripts/run-summary.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-run-summary-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("sumSummaries", () => {
  it("adds up what several runs came to, the counts last", () => {
    const file = join(folder, "two");
    keepSummary(file, { passed: 3, failed: 0, skipped: 1, failures: [], retries: ["retried: a > b\n  late"] });
    keepSummary(file, { passed: 4, failed: 1, skipped: 0, failures: ["failed: c > d\n  wrong"], retries: [] });
    expect(summaryLines(sumSummaries(file, 2))).toEqual([
      "retried: a > b\n  late",
      "\nfailed: c > d\n  wrong",
      "1 passed when they were tried again",
      "7 passed, 1 failed, 1 skipped",
    ]);
  });

  it("counts a run that left nothing as a failure", () => {
    const file = join(folder, "none");
    writeFileSync(file, "");
    expect(sumSummaries(file, 2)).toMatchObject({ passed: 0, failed: 2 });
  });
});

describe("retryReport", () => {
  it("names a test that passed at its second try, with its first error", () => {
    const assertionResults = [
      { fullName: "a b", status: "passed", failureMessages: ["Error: late\n    at line 3"] },
      { fullName: "a c", status: "passed", failureMessages: [] },
      { fullName: "a d", status: "failed", failureMessages: ["Error: wrong", "Error: wrong"] },
    ];
    const text = JSON.stringify({ testResults: [{ name: "/project/x.test.ts", assertionResults }] });
    expect(retryReport(text, "/project")).toEqual(["retried: x.test.ts > a b\n  Error: late"]);
  });
});

describe("slowFiles", () => {
  it("names the longest first, by what a lane has of them", () => {
    const file = (name: string, endTime: number): object => ({
      ...{ name: `/project/${name}`, startTime: 0, endTime },
      assertionResults: [{ ancestorTitles: [`${name} on docker`] }],
    });
    const text = JSON.stringify({ testResults: [file("a", 1_000), file("b", 61_000), file("c", 10)] });
    expect(slowFiles(text, "/project")).toEqual([
      "\n62 s in all files together; the longest:",
      "61 s  b (b on docker)",
      "1 s  a (a on docker)",
    ]);
  });
});

describe("UnhandledReporter", () => {
  it("keeps the errors that no test had, which fail a run all the same", () => {
    const file = join(folder, "unhandled");
    expect(readUnhandled(file)).toEqual([]);
    vi.stubEnv(unhandledVariable, file);
    new UnhandledReporter().onTestRunEnd([], [{ message: "late", stack: "Error: late\n    at x.ts:3" }]);
    vi.unstubAllEnvs();
    expect(readUnhandled(file)).toEqual(["  Error: late\n      at x.ts:3"]);
  });
});
