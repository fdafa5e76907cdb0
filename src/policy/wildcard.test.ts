import { describe, expect, it } from "vitest";
import { matchesWildcard } from "./wildcard.ts";

describe("matchesWildcard", () => {
  it.each([
    ["id_rsa.pub", "id_rsa*"],
    ["id_rsa", "id_rsa*"],
    ["my-passwords.txt", "*password*"],
    [".env", ".e?v"],
    ["a.b.c", "*.c"],
    ["", "*"],
    ["abab", "*ab"],
  ])("%j fits %j", (name, pattern) => expect(matchesWildcard(name, pattern)).toBe(true));

  it.each([
    ["my_id_rsa", "id_rsa*"],
    ["environment", ".env"],
    [".env.local", ".env"],
    [".ev", ".e?v"],
    ["", "?"],
    ["a", ""],
  ])("%j does not fit %j", (name, pattern) => expect(matchesWildcard(name, pattern)).toBe(false));

  it("does not take forever on a hostile pair", () => {
    expect(matchesWildcard("a".repeat(5000), `${"*a".repeat(200)}b`)).toBe(false);
  });
});
