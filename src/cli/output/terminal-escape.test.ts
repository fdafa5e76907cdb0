import { expect, it } from "vitest";
import { escapeControls, escapeLine } from "./terminal-escape.ts";

it("shows escape sequences instead of obeying them", () => {
  expect(escapeControls("\x1b]0;owned\x07red \x1b[31m \x9b2J \x7f")).toBe(
    "\\x1b]0;owned\\x07red \\x1b[31m \\x9b2J \\x7f",
  );
});

it("leaves text, tabs, newlines, carriage returns and other scripts alone", () => {
  const text = "a\tb\r\nc é 漢 🙂";
  expect(escapeControls(text)).toBe(text);
});

it.each([
  ["another row", "id\nsbx-forged  docker", "id\\nsbx-forged  docker"],
  ["a row over this one", "id\rforged", "id\\rforged"],
  ["another column", "id\tforged", "id\\tforged"],
  ["another line of Unicode's", "a\u2028b\u2029c\u0085d", "a\\u2028b\\u2029c\\x85d"],
  ["another order", "a\u202eb\u2066c\u200fd\u061ce", "a\\u202eb\\u2066c\\u200fd\\u061ce"],
  ["a sequence", "a\u001b[2Kb\u0000", "a\\x1b[2Kb\\x00"],
])("lets text from elsewhere not make %s", (_, text, shown) => expect(escapeLine(text)).toBe(shown));

it("leaves a line of other scripts alone", () => expect(escapeLine("é 漢 🙂 שלום")).toBe("é 漢 🙂 שלום"));
