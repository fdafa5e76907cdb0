import { describe, expect, it } from "vitest";
import { maxArguments } from "../../operations/contract/wire-values.ts";
import { checkArguments, maxArgumentBytes } from "./arguments.ts";

describe("checkArguments", () => {
  it.each([
    [[]],
    [["", "-rf", "a b", "$(x)", "\n", "é😀"]],
    [["x".repeat(maxArgumentBytes)]],
    [[...Array.from({ length: 15 }, () => "x".repeat(maxArgumentBytes)), "x".repeat(131_071 - 8 * 16)]],
    [Array.from({ length: maxArguments }, () => "")],
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
    ["too many", Array.from({ length: 65_001 }, () => "x"), "args: expected at most 65000 arguments, found 65001."],
    [
      "too long a one",
      ["x", "€".repeat(43_691)],
      "args[1]: expected at most 131071 bytes, found 131073; pass data on stdin.",
    ],
    [
      "too much",
      [...Array.from({ length: 15 }, () => "x".repeat(maxArgumentBytes)), "x".repeat(131_071 - 8 * 16 + 1)],
      "args: expected at most 2097152 bytes in all, of which each argument takes 9 more than its text, found 2097153; pass data on stdin.",
    ],
  ])("refuses %s", (_, values, message) => {
    expect(() => checkArguments(values as string[])).toThrow(
      expect.objectContaining({ errorType: "INVALID_REQUEST", message }),
    );
  });
});
