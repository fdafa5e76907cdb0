import { expect, it } from "vitest";
import { formatTable } from "./format-table.ts";

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
