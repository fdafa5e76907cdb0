import { describe, expect, it } from "vitest";
import { checkGroupName } from "./group-name.ts";

describe("checkGroupName", () => {
  it.each(["main", "a", "family-chat", "team_2", "0", "x".repeat(64)])("takes %s", (name) => {
    expect(checkGroupName(name)).toBe(name);
  });

  it.each([
    ...["", ".", "..", "../other", "a/b", "a\\b", "/etc", "C:", "~", "a..b", ".pi", "a.b", "-a", "a-", "Main", "a b"],
    ...["a\0", "a\n", "grüße", "x".repeat(65), "global", "nul", "com1", "%2e%2e", "\u202Eniam"],
  ])("refuses %j", (name) => {
    expect(() => checkGroupName(name)).toThrow(expect.objectContaining({ errorType: "INVALID_REQUEST" }));
  });
});
