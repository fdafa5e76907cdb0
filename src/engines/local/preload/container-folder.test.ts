import { join, win32 } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchPaths } from "./container-folder.ts";

const paths = { scratch: ["/work", "/tmp", "/work/cache"], readOnly: ["/node_modules"] };

describe("scratchPaths", () => {
  const { places, readOnly, folderOf } = scratchPaths(paths, "/host/c1", (...parts) => join(...parts));

  it("lays the folders out below the root", () => {
    expect([...places]).toEqual([
      ["/work", "/host/c1/work"],
      ["/tmp", "/host/c1/tmp"],
      ["/work/cache", "/host/c1/work/cache"],
    ]);
    expect([...readOnly]).toEqual([["/node_modules", "/host/c1/node_modules"]]);
  });

  it.each([
    ["/work", "/host/c1/work"],
    ["/work/", "/host/c1/work"],
    ["/work/a/b", "/host/c1/work/a/b"],
    ["/work/cache/x", "/host/c1/work/cache/x"],
    ["/work/../tmp/x", "/host/c1/tmp/x"],
    ["/node_modules/a", "/host/c1/node_modules/a"],
    ["/workshop", "/workshop"],
    ["/work/../etc", "/work/../etc"],
    ["/", "/"],
    ["", ""],
  ])("%s is %s", (path, real) => {
    expect(folderOf(path)).toBe(real);
  });

  it("speaks of Windows' folders in Windows' way", () => {
    const windows = scratchPaths(paths, "C:\\Temp\\c1", (...parts) => win32.join(...parts));
    expect(windows.folderOf("/work/a/b")).toBe("C:\\Temp\\c1\\work\\a\\b");
  });
});
