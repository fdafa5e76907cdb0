import { describe, expect, it } from "vitest";
import { checkArguments, maxArgumentBytes } from "./arguments.ts";

describe("checkArguments", () => {
  it.each([
    [[]],
    [["", "-rf", "a b", "$(x)", "\n", "é😀"]],
    [["x".repeat(maxArgumentBytes - 1)]],
    [Array.from({ length: 1024 }, () => "")],
  ])("accepts what a process can be given (%#)", (values) => {
    const checked = checkArguments(values);
    expect(checked).toEqual(values);
    expect(Object.isFrozen(checked)).toBe(true);
  });

  it.each([
    ["a NUL", ["ok", "a\0b"], "args[1]: expected text without NUL characters."],
    ["half a pair", ["\udc00"], "args[0]: expected Unicode text, found half a surrogate pair."],
    ["a number", [5], "args[0]: expected text, found number."],
    ["a hole", Array.from({ length: 1 }), "args[0]: expected text, found undefined."],
    ["too many", Array.from({ length: 1025 }, () => "x"), "args: expected at most 1024 arguments, found 1025."],
    [
      "too much",
      ["€".repeat(43_690), "x"],
      "args: expected at most 131072 bytes in all, found 131073; pass data on stdin.",
    ],
  ])("refuses %s", (_, values, message) => {
    expect(() => checkArguments(values as string[])).toThrow(
      expect.objectContaining({ errorType: "INVALID_REQUEST", message }),
    );
  });
});
