import { describe, expect, it } from "vitest";
import { agedPipCommand, npmAgeOptions, sealedPip, type MinAge } from "./min-age.ts";

const age: MinAge = { ms: 24 * 3_600_000, beforeMs: Date.UTC(2026, 0, 2), isDemanded: false };

describe("agedPipCommand", () => {
  it("gives a script the date, whether it is demanded, and a pip that starts no process", () => {
    const pip = agedPipCommand(["--", "a"], age);
    expect(pip.slice(3, 6)).toEqual(["sh", "2026-01-02T00:00:00.000Z", "no"]);
    expect(pip.slice(7)).toEqual([...sealedPip, "install", "--", "a"]);
    expect(agedPipCommand([], { ...age, isDemanded: true })[5]).toBe("yes");
    // No pip in it but that one.
    expect(pip.slice(0, 7).join(" ")).not.toMatch(/-m pip|^pip |\n\s*pip /);
  });

  it("is that pip alone where any age will do", () => {
    expect(agedPipCommand(["--", "a"], null)).toEqual([...sealedPip, "install", "--", "a"]);
  });
});

describe("npmAgeOptions", () => {
  it("is npm's own option", () => {
    expect(npmAgeOptions(age)).toEqual(["--before=2026-01-02T00:00:00.000Z"]);
    expect(npmAgeOptions(null)).toEqual([]);
  });
});
