import { describe, expect, it } from "vitest";
import { allowedSyscalls } from "./allowed-syscalls.ts";
import { seccompPolicy } from "./seccomp-policy.ts";
import { syscallNumbers } from "./syscall-numbers.ts";

describe("seccompPolicy", () => {
  it("names only calls that exist, each in one place", () => {
    const allowed = Object.values(allowedSyscalls).flatMap((names) => names.trim().split(/\s+/));
    expect(allowed).toEqual([...new Set(allowed)]);
    const policy = seccompPolicy();
    const known = syscallNumbers("x64");
    expect([...policy.keys()].filter((name) => !known.has(name))).toEqual([]);
    expect([...policy.values()].filter((rule) => rule === "allow")).toHaveLength(allowed.length);
  });

  it("leaves nothing of arm64 to chance", () => {
    const x64 = syscallNumbers("x64");
    expect([...syscallNumbers("arm64").keys()].filter((name) => !x64.has(name))).toEqual([]);
  });
});
