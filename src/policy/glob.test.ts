import { describe, expect, it } from "vitest";
import { parseGlobs, matchesGlob, matchesWildcard } from "./glob.ts";

describe("parseGlobs", () => {
  it("splits patterns into names and braces into alternatives", () => {
    expect(parseGlobs(["out/**/*.{csv,png}", "./a.txt", "out/**"])).toEqual([
      {
        source: "out/**/*.{csv,png}",
        alternatives: [
          ["out", "**", "*.csv"],
          ["out", "**", "*.png"],
        ],
      },
      { source: "./a.txt", alternatives: [["a.txt"]] },
      { source: "out/**", alternatives: [["out", "**", "*"]] },
    ]);
    expect(parseGlobs([])).toEqual([]);
  });

  it.each([
    ["", "relative path"],
    ["/etc/*", "not an absolute one"],
    ["C:/x", "not an absolute one"],
    ["../*", 'without ".."'],
    ["a/../b", 'without ".."'],
    ["{..,a}/b", 'without ".."'],
    ["{/etc,a}/b", "not an absolute one"],
    ["a\\*b", "no backslash"],
    ["a\0", "control characters"],
    ["out/", "not of a folder"],
    ["x".repeat(1025), "at most 1024 bytes"],
    ["[a-z].csv", "only \\*, \\*\\*, \\? and \\{a,b\\}"],
    ["+(a|b)", "only \\*"],
    ["!a", "only \\*"],
    ["{a,{b,c}}", "not nested"],
    ["{a,b", "in pairs"],
    ["a}b", "in pairs"],
    ["{a,b}".repeat(7), "at most 64 alternatives"],
    [`{${"a,".repeat(64)}a}`, "at most 64 alternatives"],
  ])("refuses %j", (pattern, words) => {
    expect(() => parseGlobs(["ok", pattern])).toThrow(
      expect.objectContaining({
        errorType: "INVALID_REQUEST",
        context: { field: "artifacts[1]" },
        message: expect.stringMatching(new RegExp(words)) as string,
      }),
    );
  });

  it("bounds the number of patterns", () => {
    const many = (count: number): string[] => Array.from({ length: count }, () => "*");
    expect(parseGlobs(many(64))).toHaveLength(64);
    expect(() => parseGlobs(many(65), "files")).toThrow("files: expected at most 64 patterns, found 65.");
  });
});

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

describe("matchesWildcard", () => {
  it.each([
    ["id_rsa.pub", "id_rsa*"],
    ["id_rsa", "id_rsa*"],
    ["my-passwords.txt", "*password*"],
    [".env", ".e?v"],
    ["a.b.c", "*.c"],
    ["", "*"],
    ["abab", "*ab"],
  ])("%j fits %j", (name, pattern) => expect(matchesWildcard(name, pattern)).toBe(true));

  it.each([
    ["my_id_rsa", "id_rsa*"],
    ["environment", ".env"],
    [".env.local", ".env"],
    [".ev", ".e?v"],
    ["", "?"],
    ["a", ""],
  ])("%j does not fit %j", (name, pattern) => expect(matchesWildcard(name, pattern)).toBe(false));

  it("does not take forever on a hostile pair", () => {
    expect(matchesWildcard("a".repeat(5000), `${"*a".repeat(200)}b`)).toBe(false);
  });
});
