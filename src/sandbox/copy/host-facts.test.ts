import { describe, expect, it } from "vitest";
import { linkTargetOnHost, modeOnHost } from "./host-facts.ts";

const stat = (mode: number, isFolder = false) => ({ mode, isDirectory: () => isFolder });

describe("what a file of this machine is in a sandbox", () => {
  it.each(["linux", "darwin"] as const)("has its own permissions on %s, and no setuid bit", (platform) => {
    expect(modeOnHost(stat(0o104750), platform)).toBe(0o750);
    expect(modeOnHost(stat(0o040700, true), platform)).toBe(0o700);
    expect(linkTargetOnHost("a\\b", platform)).toBe("a\\b");
  });

  it("can be run and entered when it comes from Windows, which knows no such permission", () => {
    expect(modeOnHost(stat(0o100666), "win32")).toBe(0o755);
    expect(modeOnHost(stat(0o100444), "win32")).toBe(0o555);
    expect(modeOnHost(stat(0o040666, true), "win32")).toBe(0o755);
    expect(modeOnHost(stat(0o040444, true), "win32")).toBe(0o755);
    expect(linkTargetOnHost("..\\lib\\x.js", "win32")).toBe("../lib/x.js");
  });
});
