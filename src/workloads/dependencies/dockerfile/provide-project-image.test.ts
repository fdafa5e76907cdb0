import { describe, expect, it } from "vitest";
import { contextIgnore } from "./provide-project-image.ts";
import { matchesName, parsePattern, relate } from "./path-pattern.ts";

describe("a .dockerignore", () => {
  it.each([
    ["a", ["a", "a/b/c"], ["b/a", "ab"]],
    ["*/a", ["b/a", "b/a/c"], ["a", "b/c/a"]],
    ["**/a", ["a", "b/a", "b/c/a/d"], ["b"]],
    ["a/**/b", ["a/b", "a/x/y/b"], ["a", "a/x"]],
    ["/a/../b/./c/", ["b/c", "b/c/d"], ["b", "c"]],
    ["*\n!a\n!d/e", ["b", "d", "d/f"], ["a", "a/b", "d/e"]],
    ["[a-c]?x\n# no\n\\*", ["bbx", "*"], ["dbx", "bx", "#", "q"]],
    ["../a\n.\n/", [], ["a", "."]],
  ])("%j", (text, ignored, taken) => {
    const rules = contextIgnore(text);
    expect(ignored.filter((path) => !rules.ignores(path))).toEqual([]);
    expect(taken.filter((path) => rules.ignores(path))).toEqual([]);
  });

  it("has at most 500 rules", () => {
    expect(() => contextIgnore("a\n".repeat(501))).toThrow(RangeError);
  });
});

describe("a pattern", () => {
  it("says how a path stands to it", () => {
    const pattern = parsePattern("src/*.js") ?? [];
    const paths = ["src", "src/a.js", "src/a.js/b", "src/a.ts", "lib"];
    expect(paths.map((path) => relate(pattern, path.split("/")))).toEqual(["above", "is", "below", null, null]);
    expect([relate([], ["a"]), parsePattern("a/../..")]).toEqual(["below", null]);
  });

  it("takes no time that multiplies with its stars", () => {
    expect(matchesName(`${"*a".repeat(100)}b`, "a".repeat(255))).toBe(false);
    const deep = Array.from({ length: 200 }, () => "a");
    expect(relate([...Array.from({ length: 100 }, () => ["**", "a"]).flat(), "b"], deep)).toBe("above");
  });
});
