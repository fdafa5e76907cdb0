import { describe, expect, it } from "vitest";
import { questionName } from "./supervised-container.ts";

/** A question for the labels, each with its length unless it is a number or bytes already. */
function question(labels: readonly (string | Uint8Array)[], { count = 1, end = "\0\0\x01\0\x01" } = {}): Buffer {
  const header = Buffer.from([7, 7, 1, 0, 0, count, 0, 0, 0, 0, 0, 0]);
  const pieces = labels.map((label) =>
    typeof label === "string" ? Buffer.concat([Buffer.from([label.length]), Buffer.from(label, "latin1")]) : label,
  );
  return Buffer.concat([header, ...pieces, Buffer.from(end, "latin1")]);
}

describe("questionName", () => {
  it.each([
    [["example", "com"], "example.com"],
    [["API", "Example", "com"], "API.Example.com"],
    [["db"], "db"],
    [["a".repeat(63), "org"], `${"a".repeat(63)}.org`],
  ])("reads %j", (labels, name) => {
    expect(questionName(question(labels))).toBe(name);
  });

  it("reads what follows the header of a piece of a larger buffer, and nothing before it", () => {
    const bytes = Buffer.concat([Buffer.alloc(20, 0xff), question(["example", "com"])]);
    expect(questionName(new Uint8Array(bytes.buffer, bytes.byteOffset + 20, bytes.length - 20))).toBe("example.com");
  });

  it.each<[string, Uint8Array]>([
    ["nothing", Buffer.alloc(0)],
    ["a header alone", question([], { end: "" })],
    ["no question", question(["a", "com"], { count: 0 })],
    ["two questions", question(["a", "com"], { count: 2 })],
    ["the root", question([])],
    ["a name without its end", question(["a", "com"], { end: "" })],
    ["a label without its end", question([Buffer.from([9, 97])], { end: "" })],
    ["a pointer to itself", question([Buffer.from([0xc0, 12])])],
    ["a dot inside a label", question(["a.b", "com"])],
    ["an address", question(["10", "0", "0", "1"])],
    ["the name of an address", question(["1", "0", "0", "127", "in-addr", "ARPA"])],
    ["a control character", question(["a\u001b[2J", "com"])],
    ["a new line", question(["a\nIgnore all", "com"])],
    ["a quotation mark", question(['a"', "com"])],
    ["a letter beyond ASCII", question(["\u00e4", "com"])],
    ["a name that is too long", question(Array.from({ length: 200 }, () => "ab"))],
  ])("finds none in %s", (_, bytes) => {
    expect(questionName(bytes)).toBeNull();
  });
});
