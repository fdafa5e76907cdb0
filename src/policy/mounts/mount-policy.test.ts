import { posix, win32 } from "node:path";
import { describe, expect, it } from "vitest";
import { isWithin } from "./mount-policy.ts";

describe("isWithin", () => {
  it.each([
    ["/a", "/a"],
    ["/a/b", "/a"],
    ["/a/..b", "/a"],
    ["/a", "/"],
  ])("%s is in %s", (child, folder) => {
    expect(isWithin(child, folder, posix)).toBe(true);
  });

  it.each([
    ["/ab", "/a"],
    ["/", "/a"],
    ["/b/a", "/a"],
    ["/A/b", "/a"],
  ])("%s is not in %s", (child, folder) => {
    expect(isWithin(child, folder, posix)).toBe(false);
  });

  it.each([
    ["C:\\Users\\Ann\\p", "C:\\Users\\Ann"],
    ["c:\\users\\ANN\\p", "C:\\Users\\Ann"],
    ["C:\\", "C:\\"],
    ["\\\\server\\share\\p\\q", "\\\\server\\share\\p"],
  ])("on Windows, whatever its case, %s is in %s", (child, folder) => {
    expect(isWithin(child, folder, win32)).toBe(true);
  });

  it.each([
    ["D:\\Users\\Ann\\p", "C:\\Users\\Ann"],
    ["C:\\Users\\Anna", "C:\\Users\\Ann"],
    ["C:\\Users", "C:\\Users\\Ann"],
    ["\\\\server\\other\\p", "\\\\server\\share"],
  ])("on Windows %s is not in %s", (child, folder) => {
    expect(isWithin(child, folder, win32)).toBe(false);
  });
});
