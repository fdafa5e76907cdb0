import { describe, expect, it } from "vitest";
import { countReport } from "../scripts/count-report.ts";
import { mergeAgain, testsAgain } from "../scripts/failed-again.ts";

const test = (fullName: string, status: string) => ({ fullName, status, failureMessages: [] });
const file = (name: string, ...tests: ReturnType<typeof test>[]) => ({
  name: `/project/${name}`,
  status: tests.every(({ status }) => status === "passed") ? "passed" : "failed",
  assertionResults: tests,
});
const report = (...testResults: ReturnType<typeof file>[]): string => JSON.stringify({ testResults });

const passing = file("src/a.test.ts", test("adds", "passed"));
const failing = file(
  "test/e2e/b.test.ts",
  test("on docker is quick (100%)", "failed"),
  test("on docker ends", "passed"),
);

describe("testsAgain", () => {
  it("names the few tests with engines that failed, for a pattern that fits them and no other", () => {
    const again = testsAgain(report(passing, failing), "/project");
    expect(again).toMatchObject({ files: ["test/e2e/b.test.ts"], count: 1 });
    const pattern = new RegExp(again?.pattern ?? "");
    expect(pattern.test("on docker is quick (100%)")).toBe(true);
    expect(pattern.test("on docker > is quick (100%)")).toBe(true);
    expect(pattern.test("on docker is quick (100%) twice")).toBe(false);
    expect(pattern.test("on docker ends")).toBe(false);
  });

  it("gives nothing a second chance where nothing failed, a test without engines did, or a file did not load", () => {
    expect(testsAgain(report(passing), "/project")).toBeNull();
    const unit = file("src/c.test.ts", test("subtracts", "failed"));
    expect(testsAgain(report(unit, failing), "/project")).toBeNull();
    const broken = { ...file("test/e2e/d.test.ts"), status: "failed" };
    expect(testsAgain(report(broken, failing), "/project")).toBeNull();
  });

  it("gives none where more failed than a busy machine explains", () => {
    const tests = Array.from({ length: 6 }, (_, index) => index).map((number) => test(`case ${number}`, "failed"));
    expect(testsAgain(report(file("test/e2e/e.test.ts", ...tests)), "/project")).toBeNull();
  });
});

describe("mergeAgain", () => {
  it("counts as passed what passed the second time, and that alone", () => {
    const second = file("test/e2e/b.test.ts", test("on docker is quick (100%)", "passed"));
    expect(countReport(mergeAgain(report(passing, failing), report(second)), 0)).toEqual({
      passed: 3,
      failed: 0,
      skipped: 0,
    });
    const other = file("test/e2e/f.test.ts", test("on docker is quick (100%)", "passed"));
    expect(countReport(mergeAgain(report(passing, failing), report(other)), 0)).toMatchObject({ passed: 2, failed: 1 });
  });
});
