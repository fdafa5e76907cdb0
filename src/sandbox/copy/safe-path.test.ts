import { describe, expect, it } from "vitest";
import { safeNames, staysInside } from "./safe-path.ts";

describe("names that come out of a sandbox", () => {
  it.each([
    ["", []],
    ["a/b c/\n", ["a", "b c", "\n"]],
    ["...", ["..."]],
    ["-rf/~/$HOME", ["-rf", "~", "$HOME"]],
  ])("%j are taken", (path, names) => {
    expect(safeNames(path, "linux")).toEqual(names);
  });

  const refused = ["..", "a/..", "../a", "a/../../b", "a//b", "./a", "/etc", "a\0b", "\ud800", "a/".repeat(255) + "a"];
  it.each(refused)("%j is refused", (path) => {
    expect(() => safeNames(path, "linux")).toThrow(expect.objectContaining({ errorType: "POLICY_DENIED" }));
  });

  it.each(["a\\b", "c:", "a.", "nul", "COM1.txt", "com² .x", "CONIN$", "a:stream"])(
    "%j is refused on Windows, and only there",
    (path) => {
      expect(() => safeNames(path, "win32")).toThrow("refused");
      expect(safeNames(path, "linux")).toEqual([path]);
    },
  );
});

describe("links that stay in their tree", () => {
  it.each([
    ["b", ["a"]],
    ["../b", ["d", "a"]],
    ["./d/e", ["a"]],
    ["..", ["d", "a"]],
    [".", ["a"]],
  ])("%s", (target, names) => {
    expect(staysInside(target, names)).toBe(true);
  });

  it.each([
    ["/etc/passwd", ["a"]],
    ["..", ["a"]],
    ["../..", ["d", "a"]],
    ["d/../..", ["e", "a"]],
    ["up/../../../x", ["a", "b", "c", "l"]],
    ["", ["a"]],
    ["..\\..", ["d", "a"]],
  ])("but not %j", (target, names) => {
    expect(staysInside(target, names)).toBe(false);
  });
});
