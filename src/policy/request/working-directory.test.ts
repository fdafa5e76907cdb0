import { describe, expect, it } from "vitest";
import { resolveWorkingDirectory } from "./working-directory.ts";

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
