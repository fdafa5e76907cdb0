import { expect, it } from "vitest";
import { ansiSpans } from "./ansi-spans.ts";

it.each([
  ["no sequence", "plain", [["plain", ""]]],
  [
    "a colour and its end",
    "a\u001b[31mred\u001b[0mb",
    [
      ["a", ""],
      ["red", "ansi-red"],
      ["b", ""],
    ],
  ],
  [
    "weights beside colours",
    "\u001b[1;32mok\u001b[22m so\u001b[39m.",
    [
      ["ok", "ansi-green bold"],
      [" so", "ansi-green"],
      [".", ""],
    ],
  ],
  ["bright colours as their plain ones", "\u001b[96mx", [["x", "ansi-cyan"]]],
  [
    "palettes of 256 and of true colours",
    "\u001b[38;5;1mx\u001b[48;2;31;1;32my",
    [
      ["x", ""],
      ["y", ""],
    ],
  ],
  [
    "titles, links and movements",
    "\u001b]0;own\u0007a\u001b]8;;javascript:x\u001b\\b\u001b[2J\u001b[Hc",
    [
      ["a", ""],
      ["b", ""],
      ["c", ""],
    ],
  ],
  ["a sequence that is cut off", "a\u001b[3", [["a", ""]]],
  [
    "a single escape",
    "a\u001bcb",
    [
      ["a", ""],
      ["b", ""],
    ],
  ],
] as const)("reads %s", (_, line, expected) => {
  expect(ansiSpans(line).map(({ text, style }) => [text, style])).toEqual(expected);
});

it("bounds the spans of a line, and leaves no escape in the rest", () => {
  const spans = ansiSpans("\u001b[31mx\u001b[0my".repeat(10_000));
  expect(spans.length).toBeLessThan(500);
  expect(spans.map(({ text }) => text).join("")).toBe("xy".repeat(10_000));
});
