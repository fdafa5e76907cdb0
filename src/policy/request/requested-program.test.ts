import { describe, expect, it } from "vitest";
import { checkCode, maxCodeBytes, checkArguments, maxArgumentBytes } from "./requested-program.ts";
import { maxArguments } from "../../operations/contract/wire-values.ts";

function bytes(...values: number[]): Uint8Array {
  return Uint8Array.from(values);
}

describe("checkCode", () => {
  it.each(["print(1)", "print(1)\r\nprint(2)\r\n", "\ufeffprint(1)", "a = '😀'", "\u00a0x", " x "])(
    "keeps %j byte for byte, given as text or as bytes",
    (code) => {
      expect(checkCode(code)).toBe(code);
      expect(new TextEncoder().encode(checkCode(new TextEncoder().encode(code)))).toEqual(
        new TextEncoder().encode(code),
      );
    },
  );

  it("keeps a NUL in languages that have it", () => {
    for (const language of ["javascript", "typescript"] as const) {
      expect(checkCode("const a = '\0'", language)).toBe("const a = '\0'");
      expect(checkCode(bytes(0x60, 0, 0x60), language)).toBe("`\0`");
    }
  });

  it("takes code of exactly the limit", () => {
    expect(checkCode("x".repeat(maxCodeBytes))).toHaveLength(maxCodeBytes);
  });

  it.each([
    ["nothing", "", "code: expected code, found nothing but white space."],
    ["white space", " \t\r\n", "code: expected code, found nothing but white space."],
    ["a byte order mark only", bytes(0xef, 0xbb, 0xbf), "code: expected code, found nothing but white space."],
    ["no bytes", bytes(), "code: expected code, found nothing but white space."],
    ["a NUL", "é\0x", "code: expected text without NUL bytes, found one at byte 2."],
    ["a NUL byte", bytes(0x61, 0), "code: expected text without NUL bytes, found one at byte 1."],
    ["bad UTF-8", bytes(0x61, 0x62, 0xff), "code: expected UTF-8 text, found an invalid sequence at byte 2."],
    ["half a pair", "x😀\ud83d", "code: expected Unicode text, found half a surrogate pair at character 3."],
    ["the other half", "\ude00x", "code: expected Unicode text, found half a surrogate pair at character 0."],
    [
      "5 MB",
      "x".repeat(5 * 1024 * 1024),
      "code: expected at most 1048576 bytes (1 MiB) of code, found 5242880 bytes (5 MiB); data can be passed as context files.",
    ],
    [
      "a byte too many",
      new Uint8Array(maxCodeBytes + 1).fill(0x61),
      "code: expected at most 1048576 bytes (1 MiB) of code, found 1048577 bytes (1 MiB); data can be passed as context files.",
    ],
    [
      "few characters of many bytes",
      "€".repeat(349_526),
      "code: expected at most 1048576 bytes (1 MiB) of code, found 1048578 bytes (1 MiB); data can be passed as context files.",
    ],
  ])("refuses %s", (_, code, message) => {
    expect(() => checkCode(code)).toThrow(
      expect.objectContaining({ errorType: "INVALID_REQUEST", message, context: { field: "code" } }),
    );
  });
});

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
