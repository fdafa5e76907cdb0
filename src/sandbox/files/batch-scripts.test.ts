import { describe, expect, it } from "vitest";
import { parseList, parseRead } from "./batch-scripts.ts";

const read = (text: string): ReturnType<typeof parseRead> => parseRead(Buffer.from(text));

describe("parseList", () => {
  it("takes whole paths only, whatever is in them", () => {
    const paths = parseList(Buffer.from("./a\0./-b c/\n\n\0./ü\0./cut off"));
    expect(paths.map((path) => Buffer.from(path).toString())).toEqual(["a", "-b c/\n\n", "ü"]);
  });

  it("takes an empty list", () => {
    expect(parseList(new Uint8Array())).toEqual([]);
  });
});

describe("parseRead", () => {
  it("takes files in order", () => {
    const long = Buffer.from("x".repeat(100)).toString("base64");
    expect(
      read(`3\nYWJj\n.\n0\n.\n-\n.\n!\n.\n99999999999\n.\n100\n${long.slice(0, 76)}\n${long.slice(76)}\n.\n`),
    ).toEqual([
      { sizeBytes: 3, unreadable: false, bytes: Buffer.from("abc") },
      { sizeBytes: 0, unreadable: false, bytes: new Uint8Array() },
      { sizeBytes: null, unreadable: false, bytes: null },
      { sizeBytes: null, unreadable: true, bytes: null },
      { sizeBytes: 99_999_999_999, unreadable: false, bytes: null },
      { sizeBytes: 100, unreadable: false, bytes: Buffer.from("x".repeat(100)) },
    ]);
  });

  it("leaves out a file whose end has not come", () => {
    expect(read("3\nYWJj\n.\n3\nYWJj")).toHaveLength(1);
    expect(read("")).toEqual([]);
  });

  it("takes the content of a file that shrank while it was read", () => {
    expect(read("500\nYWJj\n.\n")).toEqual([{ sizeBytes: 500, unreadable: false, bytes: Buffer.from("abc") }]);
  });

  it("believes no size that is none", () => {
    expect(read("-5\nYWJj\n.\n1e3\nYWJj\n.\n")).toEqual([
      { sizeBytes: null, unreadable: false, bytes: null },
      { sizeBytes: null, unreadable: false, bytes: null },
    ]);
  });
});
