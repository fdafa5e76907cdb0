import { describe, expect, it } from "vitest";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { editText, type TextEdit } from "./place-files.ts";

const source = `def total(items):\n    sum = 0\n    for item in items:\n        sum += item.price\n    return sum\n`;
const edit = (text: string, oldText: string, newText = "", more: Partial<TextEdit> = {}) =>
  editText(text, { oldText, newText, all: false, ...more });
const refusal = (text: string, oldText: string): GloveboxError => {
  try {
    edit(text, oldText);
  } catch (error) {
    if (error instanceof GloveboxError) return error;
  }
  throw new Error("It was not refused.");
};

describe("a replacement in a text", () => {
  it("is made where the old text stands exactly once, whatever the new one holds", () => {
    expect(edit(source, "sum += item.price", "sum += $& + $1")).toEqual({
      text: source.replace("sum += item.price", () => "sum += $& + $1"),
      replacements: 1,
    });
    expect(edit("a\0b", "\0", "")).toEqual({ text: "ab", replacements: 1 });
  });

  it("is made at every place when that is asked for, and otherwise refused with the lines", () => {
    expect(edit(source, "sum", "total", { all: true })).toMatchObject({ replacements: 3 });
    expect(refusal(source, "sum")).toMatchObject({
      errorType: "INVALID_REQUEST",
      message: "old_text stands 3 times in the file, at lines 2, 4, 5.",
      suggestion: expect.stringContaining("replace_all"),
    });
    expect(refusal("x\n".repeat(30), "x").message).toBe(
      "old_text stands 30 times in the file, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more.",
    );
  });
});

describe("a text that is not there", () => {
  it.each([
    [
      "other white space",
      "for item in items:\n  sum += item.price\n",
      3,
      "    for item in items:\n        sum += item.price",
    ],
    ["a line that is another", "    total = 0\n    for item in items:", 2, "    sum = 0\n    for item in items:"],
    ["one line misspelt", "sum += itm.prise", 4, "        sum += item.price"],
  ])("is told with the nearest one and its line: %s", (_, wanted, line, nearest) => {
    expect(refusal(source, wanted)).toMatchObject({
      errorType: "INVALID_REQUEST",
      message: `old_text is not in the file. The nearest text begins at line ${line}:\n${nearest}`,
      context: { field: "old_text", line, nearest },
    });
  });

  it("is told that nothing is like it", () => {
    expect(refusal(source, "SELECT * FROM t").message).toBe("old_text is not in the file, nor anything like it.");
    expect(refusal("", "x\ny").message).toContain("nor anything like it");
  });

  it("is told of line ends that are others", () => {
    expect(refusal("a = 1\r\nb = 2\r\n", "a = 1\nb = 2").message).toBe(
      "old_text is not in the file. The file's lines end with \\r\\n. The nearest text begins at line 1:\na = 1\nb = 2",
    );
  });

  it("is looked for in bounds, in a file of 10 MiB too", () => {
    const large = "value = compute(alpha, beta)\n".repeat(360_000);
    expect(refusal(large, "value = compote(alpha, beta)").context["line"]).toBe(1);
    expect(refusal("x".repeat(10 << 20), `y\n${"z\n".repeat(10_000)}`).message).toContain("nor anything like it");
  });
});

it("answers where a search would try almost everything again from everywhere", () => {
  const text = "ab".repeat(1_000_000);
  const oldText = `${"ab".repeat(500_000)}c`;
  expect(() => editText(text, { oldText, newText: "", all: false })).toThrow("old_text");
  expect(editText(text, { oldText: "ab".repeat(500_000), newText: "x", all: true })).toEqual({
    text: "xx",
    replacements: 2,
  });
  expect(() => editText("a".repeat(100_000), { oldText: "a", newText: "b".repeat(1_000), all: true })).toThrow("MiB");
});
