import { join, win32 } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchPaths } from "./scratch-paths.ts";

const scratch = [{ path: "/work" }, { path: "/tmp" }, { path: "/work/cache" }];

describe("scratchPaths", () => {
  const { places, folderOf } = scratchPaths(scratch, "/host/c1", (...parts) => join(...parts));

  it("lays the folders out below the root", () => {
    expect([...places]).toEqual([
      ["/work", "/host/c1/work"],
      ["/tmp", "/host/c1/tmp"],
      ["/work/cache", "/host/c1/work/cache"],
    ]);
  });

  it.each([
    ["/work", "/host/c1/work"],
    ["/work/", "/host/c1/work"],
    ["/work/a/b", "/host/c1/work/a/b"],
    ["/work/cache/x", "/host/c1/work/cache/x"],
    ["/work/../tmp/x", "/host/c1/tmp/x"],
    ["/workshop", "/workshop"],
    ["/work/../etc", "/work/../etc"],
    ["/", "/"],
    ["", ""],
  ])("%s is %s", (path, real) => {
    expect(folderOf(path)).toBe(real);
  });

  it("speaks of Windows' folders in Windows' way", () => {
    const windows = scratchPaths(scratch, "C:\\Temp\\c1", (...parts) => win32.join(...parts));
    expect(windows.folderOf("/work/a/b")).toBe("C:\\Temp\\c1\\work\\a\\b");
  });
});
