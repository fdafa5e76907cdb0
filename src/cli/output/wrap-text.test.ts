import { describe, expect, it } from "vitest";
import { indented } from "./wrap-text.ts";

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
