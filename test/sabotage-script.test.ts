import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { judgeSabotage } from "../scripts/judge-sabotage.ts";
import { sabotages } from "./sabotage/sabotages.ts";

const report = (...tests: readonly (readonly [status: string, message?: string])[]): string =>
  JSON.stringify({
    testResults: [
      { assertionResults: tests.map(([status, message]) => ({ status, failureMessages: message ? [message] : [] })) },
    ],
  });

it("counts a sabotage as caught only by an assertion", () => {
  expect(judgeSabotage(report(["passed"], ["failed", "AssertionError: expected 1 to be 2"]))).toBe("caught");
  expect(judgeSabotage(report(["failed", "Error: Test timed out in 5000ms."]))).toContain("not by an assertion");
  expect(judgeSabotage(report(["passed"], ["skipped"]))).toBe("passed");
  expect(judgeSabotage(report(["skipped"]))).toContain("no test ran");
  expect(judgeSabotage(null)).toContain("no report");
});

it("gives every sabotage a unique id", () => {
  expect(new Set(sabotages.map(({ id }) => id)).size).toBe(sabotages.length);
});

it.each(sabotages)("$id: its text stands once in $file, and its test exists", ({ file, find, replace, test, name }) => {
  expect(readFileSync(file, "utf8").split(find)).toHaveLength(2);
  expect(replace).not.toBe(find);
  expect(existsSync(test)).toBe(true);
  expect(name).not.toBe("");
});
