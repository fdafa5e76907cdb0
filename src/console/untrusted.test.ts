import { expect, it } from "vitest";
import { ansiSpans, visibleParts } from "./untrusted.tsx";

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

const shown = (text: string): string =>
  visibleParts(text)
    .map(({ text: part, isMark }) => (isMark ? `[${part}]` : part))
    .join("");

it.each([
  ["plain text, tabs and line ends", "a\tb\nc é 漢 🙂", "a\tb\nc é 漢 🙂"],
  ["control characters", "a\u0000\u0007\u001b\u007f", "a[␀][␇][␛][␡]"],
  ["overrides of direction", "\u202etxt.exe\u2066", "[U+202E]txt.exe[U+2066]"],
  ["characters without width", "a\u200bb\ufeffc\u2060", "a[U+200B]b[U+FEFF]c[U+2060]"],
  ["separators that start a line", "a\u2028b\u0085", "a[U+2028]b[U+0085]"],
  ["tags", "a\u{e0041}", "a[U+E0041]"],
])("names what acts or hides: %s", (_, text, expected) => {
  expect(shown(text)).toBe(expected);
});

it("shows markup as the text that it is", () => {
  expect(shown("<img src=x onerror=alert(1)>")).toBe("<img src=x onerror=alert(1)>");
});

it("bounds the marks of a binary text, and still lets none of it act", () => {
  const parts = visibleParts("\u202e".repeat(100_000));
  expect(parts.length).toBeLessThan(500);
  expect(parts.map(({ text }) => text).join("")).not.toContain("\u202e");
});
