import { describe, expect, it } from "vitest";
import type { TestCounts } from "./report/test-report.ts";
import { judgeTests, type EndedTests, type Judgement } from "./verdict.ts";

const counts = (some: Partial<TestCounts>): TestCounts => ({
  ...{ passed: 0, failed: 0, skipped: 0, todo: 0, other: 0, error: 0 },
  ...some,
});
const runOf = (
  some: Partial<TestCounts>,
  runner = "jest",
  unfinished: readonly string[] = [],
): EndedTests["runs"][number] => ({ runner, counts: counts(some), unfinished });
const judgement = (some: Partial<EndedTests>): Judgement => {
  const passed = { outcome: "completed", exitCode: 0, isGone: true, state: "read", named: null } as const;
  return judgeTests({ ...passed, runs: [runOf({ passed: 3 })], ...some });
};
const judge = (some: Partial<EndedTests>): string => judgement(some).verdict;
const failed = { outcome: "failed", exitCode: 1 } as const;

describe("the verdict", () => {
  it("is passed when a report shows it and the exit code confirms it", () => {
    expect(judge({})).toBe("passed");
    expect(judge({ runs: [runOf({ passed: 1, skipped: 2, todo: 1, other: 1 })] })).toBe("passed");
    expect(judge({ runs: [runOf({ passed: 1 }), runOf({ passed: 1 }, "pytest")] })).toBe("passed");
  });

  it.each([
    ["a test failed", { ...failed, runs: [runOf({ passed: 3, failed: 1 })] }],
    ["a file could not be loaded", { ...failed, runs: [runOf({ passed: 3, error: 1 })] }],
    ["a test failed and the exit code hides it", { runs: [runOf({ passed: 3, failed: 1 })] }],
    ["one of two runners failed and the exit code hides it", { runs: [runOf({ passed: 3 }), runOf({ failed: 1 })] }],
    ["all passed and the exit code says no", failed],
    ["the runner died without a report", { outcome: "failed", exitCode: 139, state: "missing", runs: [] }],
    ["an unknown runner says no", { ...failed, state: "none", runs: [] }],
    ["a refused connection made it fail", { outcome: "policy_denied", exitCode: 1, runs: [runOf({ failed: 1 })] }],
  ] as const)("is failed when %s", (_, some) => {
    expect(judge(some)).toBe("failed");
  });

  it.each([
    ["nothing was collected", { runs: [runOf({})] }],
    ["nothing was collected and the runner says no", { ...failed, exitCode: 5, runs: [runOf({})] }],
    ["everything was skipped", { runs: [runOf({ skipped: 4, todo: 1 })] }],
    ["one of two runners ran nothing", { runs: [runOf({}), runOf({ passed: 100 })] }],
  ] as const)("is nothing_ran when %s", (_, some) => {
    expect(judge(some)).toBe("nothing_ran");
  });

  it.each([
    ["the runner left no report and ended with 0", { state: "missing", runs: [] }],
    ["no runner told of its tests and the command ended with 0", { state: "none", runs: [] }],
    ["the report is not what its runner wrote", { state: "unreadable", runs: [] }],
    [
      "the report is not what its runner wrote, and the exit code says no",
      { ...failed, state: "unreadable", runs: [] },
    ],
    ["something is alive still", { isGone: false }],
    ["there is no such command", { outcome: "failed", exitCode: 127, state: "none", runs: [] }],
    ["the sandbox went away", { outcome: "sandbox_lost", exitCode: null }],
    ["it was cancelled", { outcome: "cancelled" }],
  ] as const)("is could_not_run when %s", (_, some) => {
    expect(judge(some)).toBe("could_not_run");
  });

  it("is that of the limit that ended it, whatever a report says", () => {
    expect(judge({ outcome: "timed_out", exitCode: 143 })).toBe("timed_out");
    expect(judge({ outcome: "oom_killed", exitCode: 137 })).toBe("oom_killed");
  });

  it("needs the end of everything that began", () => {
    const some = runOf({ passed: 3 }, "pytest", ["a.py::test_a", "b", "c", "d"]);
    expect(judgement({ runs: [runOf({ passed: 1 }), some] })).toEqual({
      verdict: "could_not_run",
      reason: expect.stringContaining("a.py::test_a, b, c and 1 more began and did not report the end"),
    });
    expect(judge({ ...failed, runs: [some] })).toBe("failed");
    expect(judge({ runs: [runOf({ failed: 1 }, "pytest", ["a"])] })).toBe("failed");
    const silent = { state: "none", runs: [], named: "pytest" } as const;
    expect(judgement(silent)).toEqual({
      verdict: "could_not_run",
      reason: expect.stringMatching(/^pytest told of no tests.*python -I/),
    });
  });
});
