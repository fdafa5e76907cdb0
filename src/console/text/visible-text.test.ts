import { expect, it } from "vitest";
import { visibleParts } from "./visible-text.ts";

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
