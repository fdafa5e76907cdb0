import { describe, expect, it } from "vitest";
import { parseGlobs } from "./glob.ts";

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
