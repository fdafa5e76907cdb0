import { expect, it, describe } from "vitest";
import { escapeControls, escapeLine, indented, formatTable } from "./terminal-text.ts";

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

describe("indented", () => {
  it("breaks between words at 80 columns and begins lines as told", () => {
    const lines = indented("word ".repeat(40), "- ", "    ");
    expect(lines).toHaveLength(3);
    expect(lines.every((line) => line.length <= 80)).toBe(true);
    expect(lines.map((line) => line.slice(0, 6))).toEqual(["- word", "    wo", "    wo"]);
    expect(lines.join(" ").match(/word/g)).toHaveLength(40);
  });

  it("fills a line to its last column", () => {
    expect(indented(`${"a".repeat(39)} ${"b".repeat(40)}`, "")).toHaveLength(1);
    expect(indented(`${"a".repeat(39)} ${"b".repeat(41)}`, "")).toHaveLength(2);
  });

  it("keeps a word that is longer than a line whole", () => {
    const command = "x".repeat(100);
    expect(indented(`run ${command} now`, "  ")).toEqual(["  run", `  ${command}`, "  now"]);
  });

  it("gives one line for no words", () => {
    expect(indented("", "  ")).toEqual(["  "]);
  });
});

it("has a line for each row, whatever stands in a cell", () => {
  const forged = "a\nsbx-1  docker  running\r\u202eb\u2028c";
  const lines = formatTable(
    ["SANDBOX", "KIND"],
    [
      [forged, "x"],
      ["plain", forged],
    ],
  ).split("\n");
  expect(lines).toHaveLength(4);
  expect(lines.at(-1)).toBe("");
  expect(lines.join("")).not.toMatch(/[\r\u202e\u2028]/);
  expect(lines[1]?.indexOf("x", 40)).toBe(lines[0]?.indexOf("KIND"));
});
