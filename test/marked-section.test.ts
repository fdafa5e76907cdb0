import { describe, expect, it } from "vitest";
import { replaceMarked } from "../scripts/marked-section.ts";

const marked = (body: string): string =>
  `# Title\n\n<!-- generated:one -->${body}<!-- /generated:one -->\n\nThe rest.\n`;

describe("replaceMarked", () => {
  it("replaces what stands between the markers, and nothing else", () => {
    const fresh = marked("\n\nnew $& body\n\n");
    expect(replaceMarked(marked("\nold\n"), "one", "new $& body\n")).toBe(fresh);
    expect(replaceMarked(fresh, "one", "new $& body")).toBe(fresh);
  });

  it("leaves other sections alone", () => {
    const other = "<!-- generated:two -->\nkept\n<!-- /generated:two -->\n";
    expect(replaceMarked(`${other}${marked("\n")}`, "one", "x")).toBe(`${other}${marked("\n\nx\n\n")}`);
  });

  it.each([
    ["no markers", "text"],
    ["another name", marked("\n").replaceAll("one", "two")],
    ["a marker inside a line", marked(" ")],
    ["two pairs", `${marked("\n")}${marked("\n")}`],
    ["only the first", "<!-- generated:one -->\n"],
    ["the wrong order", "<!-- /generated:one -->\n<!-- generated:one -->\n"],
  ])("refuses a text with %s", (_, text) => {
    expect(() => replaceMarked(text, "one", "x")).toThrow(/generated:one|wrong order/);
  });
});
