import { describe, expect, it } from "vitest";
import { jsonErrorPosition } from "./json-error-position.ts";

const valid = `\n{"a": [1, -2.5e3, "x\\n\\u00e9", true, null, {}, []], "b": {"c": ""}}\n`;

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("jsonErrorPosition", () => {
  it.each([
    ["", 1, 1],
    ["  \n ", 2, 2],
    ["{", 1, 2],
    ['{\n  "a": 1,\n}', 3, 1],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
    ["[1, 2,]", 1, 7],
    ["[1 2]", 1, 4],
    ["{a: 1}", 1, 2],
    ['{"a" 1}', 1, 6],
    ["{'a': 1}", 1, 2],
    ['{"a": tru}', 1, 7],
    ['{"a": "x\n"}', 1, 7],
    ['{"a": 1} // note', 1, 10],
    ['{"a": 1}}', 1, 9],
    ["[}", 1, 2],
    ["{]", 1, 2],
    ["[01]", 1, 3],
  ])("of %j is line %d, column %d", (text, line, column) => {
    expect(jsonErrorPosition(text)).toEqual({ line, column });
  });

  it("finds an error exactly when JSON.parse does, in every text one change away from a valid one", () => {
    const marks = ["", "{", "}", "[", "]", ",", ":", '"', "\\", "0", "-", ".", "e", "t", " ", "\n", "\u0000"];
    const changed = Array.from({ length: valid.length + 1 }, (_, index) =>
      marks.flatMap((mark) => [
        valid.slice(0, index) + mark + valid.slice(index + 1),
        valid.slice(0, index) + mark + valid.slice(index),
      ]),
    ).flat();
    expect(changed.filter((text) => parses(text) !== (jsonErrorPosition(text) === null))).toEqual([]);
    expect(changed.filter((text) => parses(text)).length).toBeGreaterThan(50);
  });
});
