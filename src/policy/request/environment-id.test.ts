import { describe, expect, it } from "vitest";
import { checkEnvironmentId } from "./environment-id.ts";

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
