import { describe, expect, it } from "vitest";
import { allowedSyscalls, seccompPolicy, setuidSyscalls } from "./seccomp-policy.ts";
import { syscallNumbers } from "./syscalls.ts";

describe("seccompPolicy", () => {
  it("names only calls that exist, each in one place", () => {
    const allowed = Object.values(allowedSyscalls).flatMap((names) => names.trim().split(/\s+/));
    expect(allowed).toEqual([...new Set(allowed)]);
    const policy = seccompPolicy({ setuidBits: true });
    const known = syscallNumbers("x64");
    expect([...policy.keys()].filter((name) => !known.has(name))).toEqual([]);
    expect([...policy.values()].filter((rule) => rule === "allow")).toHaveLength(allowed.length);
  });

  it("differs for installers in nothing but the calls that can set a setuid bit", () => {
    const [programs, installers] = [false, true].map((setuidBits) => seccompPolicy({ setuidBits }));
    const names = new Set([...(programs?.keys() ?? []), ...(installers?.keys() ?? [])]);
    const different = [...names].filter((name) => programs?.get(name) !== installers?.get(name));
    expect(different.toSorted()).toEqual(Object.keys(setuidSyscalls).toSorted());
  });

  it("leaves nothing of arm64 to chance", () => {
    const x64 = syscallNumbers("x64");
    expect([...syscallNumbers("arm64").keys()].filter((name) => !x64.has(name))).toEqual([]);
  });
});
