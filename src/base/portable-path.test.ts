import { posix, win32 } from "node:path";
import { describe, expect, it } from "vitest";
import { pathBelow, portablePath } from "./portable-path.ts";

describe("portablePath", () => {
  it("has slashes, and leaves a backslash alone where it is a letter", () => {
    expect(portablePath("src\\lib\\a.ts", win32)).toBe("src/lib/a.ts");
    expect(portablePath("src/odd\\name", posix)).toBe("src/odd\\name");
  });
});

describe("pathBelow", () => {
  it.each([
    ["a\\b.py", "a/b.py"],
    [".\\a\\..\\b/c", "b/c"],
    ["..a", "..a"],
  ])("takes %s on Windows as %s", (given, below) => {
    expect(pathBelow(given, win32)).toBe(below);
  });

  it.each(["..", "..\\b", "a\\..\\..\\b", "C:\\a", "C:a", "\\a", "\\\\server\\share\\a", "/a"])(
    "takes nothing that leads elsewhere on Windows: %s",
    (given) => {
      expect(pathBelow(given, win32)).toBeNull();
    },
  );

  it("knows no drives elsewhere", () => {
    expect(pathBelow("C:a", posix)).toBe("C:a");
    expect(pathBelow("a/../b", posix)).toBe("b");
    expect(["..", "../b", "a/../../b", "/a"].map((given) => pathBelow(given, posix))).toEqual([null, null, null, null]);
  });
});
