import { describe, expect, it } from "vitest";
import { countBunSummaries, findSummary, runnerNamedIn } from "./runner-table.ts";

describe("the summary that a runner prints", () => {
  it.each([
    ["pytest", "========== 1 failed, 4 passed, 1 skipped, 1 xfailed, 1 error in 0.04s ==========\n"],
    ["pytest", "1 failed, 4 passed, 1 skipped in 0.05s\n"],
    [
      "jest",
      "Test Suites: 2 failed, 2 total\nTests:       1 failed, 1 skipped, 1 todo, 4 passed, 8 total\nTime: 2 s\n",
    ],
    [
      "vitest",
      "\u001b[2m Test Files \u001b[22m 2 failed (2)\n\u001b[2m      Tests \u001b[22m \u001b[31m1 failed\u001b[39m | 4 passed | 1 skipped (6)\n",
    ],
    ["mocha", "\n  4 passing (12ms)\n  1 pending\n  1 failing\n"],
    ["node:test", "# tests 6\n# pass 4\n# fail 1\n# cancelled 0\n# skipped 1\n"],
    ["node:test", "ℹ tests 6\nℹ pass 4\nℹ fail 1\nℹ skipped 1\n"],
    ["bun", "\n 4 pass\n 1 skip\n 1 fail\nRan 6 tests across 2 files. [5.00ms]\n"],
  ])("is read for %s", (runner, output) => {
    expect(findSummary(runner, `before\n${output}`)).toEqual({ passed: 4, failed: 1, skipped: 1 });
  });

  it("is not made up", () => {
    expect(findSummary("pytest", "I passed 4 exams in 3 years\n")).toBeNull();
    expect(findSummary("jest", "")).toBeNull();
    expect(findSummary("uvu", "  Total:     17\n  Passed:    17\n")).toBeNull();
  });

  it("is looked for at the end of an output, in lines of a common length", () => {
    expect(findSummary("bun", ` 4 pass\n${"x".repeat(20_000)}\n`)).toBeNull();
    expect(findSummary("pytest", `1 passed ${"1 ".repeat(7_000)} in 1s`)).toBeNull();
  });
});

it("a command names its runner, or none", () => {
  expect(runnerNamedIn("cd sub && python -m pytest -q")).toBe("pytest");
  expect(runnerNamedIn("npx vitest run")).toBe("vitest");
  expect(runnerNamedIn("node --import x --test")).toBe("node:test");
  expect(runnerNamedIn("bun test a")).toBe("bun");
  expect(runnerNamedIn("npx uvu -r esm test")).toBeNull();
});

it("counts how often bun test has ended", () => {
  const once = "Ran 9 tests across 2 files. [5.00ms]\n";
  expect(countBunSummaries(once)).toBe(1);
  expect(countBunSummaries(`${once}Ran 1 test across 1 file. [1ms]\n`)).toBe(2);
  expect(countBunSummaries("")).toBe(0);
});
