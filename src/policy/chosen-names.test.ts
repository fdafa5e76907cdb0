import { describe, expect, it } from "vitest";
import { checkGroupName, checkEnvironmentId } from "./chosen-names.ts";

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

describe("checkEnvironmentId", () => {
  it.each(["a", "A-1", "my_env.v2", "9", "x".repeat(64)])("takes %s", (id) => {
    expect(checkEnvironmentId(id)).toBe(id);
  });

  it.each([
    "",
    ".",
    "..",
    "a..b",
    "a/b",
    "../x",
    "-a",
    " a",
    "a b",
    "é",
    "a\0",
    "a\n",
    "x".repeat(65),
    "x".repeat(300),
  ])("refuses %j", (id) => {
    expect(() => checkEnvironmentId(id)).toThrow(
      expect.objectContaining({ errorType: "INVALID_REQUEST", context: { field: "env_id" } }),
    );
  });
});
