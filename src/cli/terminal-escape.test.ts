import { expect, it } from "vitest";
import { escapeControls } from "./terminal-escape.ts";

it("shows escape sequences instead of obeying them", () => {
  expect(escapeControls("\x1b]0;owned\x07red \x1b[31m \x9b2J \x7f")).toBe(
    "\\x1b]0;owned\\x07red \\x1b[31m \\x9b2J \\x7f",
  );
});

it("leaves text, tabs, newlines, carriage returns and other scripts alone", () => {
  const text = "a\tb\r\nc é 漢 🙂";
  expect(escapeControls(text)).toBe(text);
});
