import { describe, expect, it } from "vitest";
import { checkRelativePath, resolveWorkingDirectory } from "./request-paths.ts";

describe("checkRelativePath", () => {
  it.each([
    ["a.py", "a.py"],
    ["./data//in.csv", "data/in.csv"],
    ["a/./b", "a/b"],
    ["...", "..."],
    ["..a/b..", "..a/b.."],
    ["-rf", "-rf"],
    ["a b/$(x)", "a b/$(x)"],
    [".hidden", ".hidden"],
    ["é/😀", "é/😀"],
    ["ab:c", "ab:c"],
    [`${"é".repeat(127)}x`, `${"é".repeat(127)}x`],
  ])("takes %j as %j", (path, normal) => {
    expect(checkRelativePath(path, "path")).toBe(normal);
  });

  it.each([
    ["", "expected a relative path such as"],
    ["/etc/passwd", "not an absolute one"],
    ["//host/share", "not an absolute one"],
    ["C:\\Windows", "no backslash"],
    ["C:/Windows", "not an absolute one"],
    ["c:file", "not an absolute one"],
    ["\\\\host\\share", "no backslash"],
    ["\\x", "no backslash"],
    ["a\\..\\b", "no backslash"],
    ["../../etc/passwd", 'without ".."'],
    ["a/../../b", 'without ".."'],
    ["a/..", 'without ".."'],
    ["..", 'without ".."'],
    [".", "not of a folder"],
    ["./", "not of a folder"],
    ["a/", "not of a folder"],
    ["a/.", "not of a folder"],
    ["a\0b", "control characters"],
    ["a\nb", "control characters"],
    ["a\u0085b", "control characters"],
    ["\ud800", "Unicode text"],
    ["x".repeat(256), "names of at most 255 bytes"],
    ["é".repeat(128), "names of at most 255 bytes"],
    [`${"a/".repeat(512)}b`, "at most 1024 bytes"],
  ])("refuses %j", (path, words) => {
    expect(() => checkRelativePath(path, "files[3].path")).toThrow(
      expect.objectContaining({
        errorType: "INVALID_REQUEST",
        context: { field: "files[3].path" },
        message: expect.stringContaining(words) as string,
      }),
    );
  });
});

describe("resolveWorkingDirectory", () => {
  it.each([
    [undefined, "/workdir"],
    [".", "/workdir"],
    ["src/lib", "/workdir/src/lib"],
    ["/tmp", "/tmp"],
    ["../tmp", "/tmp"],
    ["../../..", "/"],
  ])("takes %j as %s", (given, resolved) => {
    expect(resolveWorkingDirectory(given, "/workdir")).toBe(resolved);
  });

  it.each(["", "a\0b", "x".repeat(5000)])("refuses what is no path", (given) => {
    expect(() => resolveWorkingDirectory(given, "/workdir")).toThrow(
      expect.objectContaining({ errorType: "INVALID_REQUEST", context: { field: "cwd" } }),
    );
  });
});
