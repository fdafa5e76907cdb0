import { describe, expect, it } from "vitest";
import { fileError } from "./file-error.ts";
import { insidePath } from "./inside-path.ts";

describe("fileError", () => {
  it.each([
    ["cat: write error: No space left on device", "POLICY_DENIED"],
    ["mkdir: cannot create directory '/x': Permission denied", "PERMISSION_DENIED"],
    ["mktemp: (null): Read-only file system", "PERMISSION_DENIED"],
    ["Is a directory", "INVALID_REQUEST"],
    ["cat: /a/b: Not a directory", "INVALID_REQUEST"],
    ["cat: /a: Too many levels of symbolic links", "INVALID_REQUEST"],
    ["mv: can't rename: File name too long", "INVALID_REQUEST"],
    ["cat: can't open '/x': No such file or directory", "NOT_FOUND"],
    ["something else", "INTERNAL"],
  ])("finds in %j the type %s", (said, type) => {
    const error = fileError("/work/x", said);
    expect(error.errorType).toBe(type);
    expect(error.message).toContain('"/work/x"');
    expect(error.message).not.toContain(said);
  });
});

describe("insidePath", () => {
  it("takes absolute paths, without slashes at their end", () => {
    expect(["/", "//", "/a", "/a/", "/a//", "/-x", "/a/../b"].map(insidePath)).toEqual([
      ...["/", "/", "/a", "/a", "/a", "/-x", "/a/../b"],
    ]);
  });

  it.each(["", "a", "./a", "/a\0", "/\ud800", `/${"x".repeat(4096)}`])("refuses %j", (path) => {
    expect(() => insidePath(path)).toThrow(expect.objectContaining({ errorType: "INVALID_REQUEST" }));
  });
});
