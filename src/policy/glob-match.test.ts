import { describe, expect, it } from "vitest";
import { parseGlobs } from "./glob.ts";
import { matchesGlob } from "./glob-match.ts";

function matches(path: string, ...patterns: string[]): boolean {
  return matchesGlob(path, parseGlobs(patterns));
}

describe("matchesGlob", () => {
  it.each([
    ["a.csv", "a.csv"],
    ["a.csv", "*.csv"],
    ["a.csv", "*"],
    ["a.csv", "**"],
    ["x/y/a.csv", "**"],
    ["a.csv", "**/*.csv"],
    ["x/y/a.csv", "**/*.csv"],
    ["x/y/a.csv", "x/**"],
    ["x/y/a.csv", "x/**/a.csv"],
    ["x/a.csv", "x/**/a.csv"],
    ["x/y/z/a.csv", "x/*/**/*.csv"],
    ["x/a/x/b", "**/x/b"],
    ["a/b/a/b/c", "**/a/b/c"],
    ["a1.png", "a?.png"],
    ["plot.png", "*.{csv,png}"],
    ["ab", "a*b"],
    ["aXbYb", "a*b"],
    ["abcabd", "*ab?"],
    [".hidden", ".*"],
    [".cache/a", ".cache/*"],
    ["a+b(1).csv", "a+b?1?.csv"],
    ["a.b", "a.b"],
  ])("%s fits %s", (path, pattern) => {
    expect(matches(path, pattern)).toBe(true);
  });

  it.each([
    ["a.csv", "*.png"],
    ["x/a.csv", "*.csv"],
    ["x", "x/**"],
    ["x/y/a.csv", "x/*.csv"],
    ["y/a.csv", "x/**"],
    ["a.png", "a?.png"],
    [".hidden", "*"],
    [".hidden", "**"],
    [".hidden", "?hidden"],
    [".cache/a.csv", "**/*.csv"],
    ["x/.cache/a.csv", "x/**"],
    ["aXb", "a.b"],
    ["abX", "a*b"],
    ["A.csv", "a.csv"],
    ["a", "a/b"],
    ["a/b", "a"],
    ["", "a"],
  ])("%s does not fit %s", (path, pattern) => {
    expect(matches(path, pattern)).toBe(false);
  });

  it("takes any of several patterns, and none of none", () => {
    expect(matches("b.png", "*.csv", "*.png")).toBe(true);
    expect(matches("b.png")).toBe(false);
  });

  it("answers at once where a regular expression would run for ever", () => {
    expect(matches("a".repeat(250), `${"*a".repeat(100)}b`)).toBe(false);
    expect(matches(`${"a/".repeat(400)}c`, `${"**/a/".repeat(150)}b`)).toBe(false);
  });
});
