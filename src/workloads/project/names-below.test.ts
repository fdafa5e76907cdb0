import { expect, it } from "vitest";
import { namesBelow, workTreeOf } from "./names-below.ts";

it.each<[NodeJS.Platform, string, string, readonly string[] | null]>([
  ["linux", "/a/b", "/a/b/c/d", ["c", "d"]],
  ["linux", "/a/b", "/a/b", null],
  ["linux", "/a/b", "/a/bc", null],
  ["linux", "/a/b", "/a", null],
  ["linux", "/a", "/a/..b", ["..b"]],
  ["win32", "C:\\a", "C:\\a\\b\\c", ["b", "c"]],
  ["win32", "C:\\a", "D:\\a\\b", null],
  ["win32", "C:\\a", "C:\\ab", null],
])("on %s, the names from %s to %s are %j", (platform, folder, place, names) => {
  expect(namesBelow(folder, place, platform)).toEqual(names);
});

it.each<[NodeJS.Platform, string, string | null]>([
  ["linux", "/a/b/.git/modules/x/.git/y", "/a/b"],
  ["linux", "/a/b/.git", null],
  ["linux", "/.git/modules/x", null],
  ["linux", "/a/b.git/x", null],
  ["win32", "C:\\a\\.git\\modules\\x", "C:\\a"],
])("on %s, %s is in the .git of %j", (platform, place, tree) => {
  expect(workTreeOf(place, platform)).toBe(tree);
});
