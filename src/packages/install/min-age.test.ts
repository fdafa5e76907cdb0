import { describe, expect, it } from "vitest";
import { agedCommand, type MinAge } from "./min-age.ts";

const age: MinAge = { ms: 24 * 3_600_000, beforeMs: Date.UTC(2026, 0, 2), isDemanded: false };
const install = ["npm", "install", "--", "a"];

describe("agedCommand", () => {
  it("is the tool's own option", () => {
    expect(agedCommand(install, age)).toEqual(["npm", "install", "--before=2026-01-02T00:00:00.000Z", "--", "a"]);
    const bun = agedCommand(["bun", "add", "--", "a"], { ...age, isDemanded: true });
    expect(bun.slice(3)).toEqual(["sh", "86400", "yes", "bun", "add", "--", "a"]);
    const pip = agedCommand(["python3", "-m", "pip", "install", "--", "a"], age);
    expect(pip.slice(3, 6)).toEqual(["sh", "2026-01-02T00:00:00.000Z", "no"]);
    expect(pip.slice(-2)).toEqual(["--", "a"]);
  });

  it("is the command as it was where any age will do", () => {
    expect(agedCommand(install, null)).toBe(install);
  });
});
