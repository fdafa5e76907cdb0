import { describe, expect, it } from "vitest";
import { countReport } from "../scripts/count-report.ts";

const report = (...files: readonly (readonly string[])[]): string =>
  JSON.stringify({
    testResults: files.map(([status, ...tests]) => ({
      status,
      assertionResults: tests.map((test) => ({ status: test })),
    })),
  });

describe("countReport", () => {
  it("counts tests of all files", () => {
    const text = report(["passed", "passed", "skipped"], ["failed", "failed", "passed", "todo"]);
    expect(countReport(text, 1)).toEqual({ passed: 2, failed: 1, skipped: 2 });
  });

  it.each([
    ["a file that broke before its tests", report(["failed"], ["passed", "passed"]), 1, 1],
    ["an exit code without a failure", report(["passed", "passed"]), 1, 1],
    ["a missing report", null, 0, 0],
    ["a run without any test", report(), 0, 0],
  ])("counts %s as a failure", (_, text, exitCode, passed) => {
    expect(countReport(text, exitCode)).toEqual({ passed, failed: 1, skipped: 0 });
  });

  it("counts no failure if everything passed", () => {
    expect(countReport(report(["passed", "passed"]), 0)).toEqual({ passed: 1, failed: 0, skipped: 0 });
  });
});
