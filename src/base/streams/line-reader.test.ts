import { describe, expect, it } from "vitest";
import { LineReader } from "./line-reader.ts";

const shown = (reader: LineReader, ...chunks: readonly (string | Uint8Array)[]): unknown[] =>
  [...chunks.flatMap((chunk) => reader.push(Buffer.from(chunk))), ...reader.end()].map(({ bytes, length, isTooLong }) =>
    isTooLong ? [length, bytes.toString()] : bytes.toString(),
  );

describe("lines", () => {
  it("come out of chunks of any size, characters that are cut in two whole", () => {
    expect(shown(new LineReader(100), "a", "b\nc", "\nd\ne", "f\n")).toEqual(["ab", "c", "d", "ef"]);
    const text = Buffer.from("π\u2028π\n\nπ");
    for (let cut = 0; cut <= text.length; cut += 1) {
      expect(shown(new LineReader(100), text.subarray(0, cut), text.subarray(cut))).toEqual(["π\u2028π", "", "π"]);
    }
  });

  it("are given without their end, and the last one without any", () => {
    expect(shown(new LineReader(100), "one\r\ntwo")).toEqual(["one\r", "two"]);
    expect(shown(new LineReader(100), "one\n")).toEqual(["one"]);
    expect(shown(new LineReader(100), "\n")).toEqual([""]);
    expect(shown(new LineReader(100))).toEqual([]);
  });

  it("may hold any byte", () => {
    expect(shown(new LineReader(100), "a\0b\n")).toEqual(["a\0b"]);
  });

  it("that are too long are told with their length, and the next one is whole", () => {
    const chunks = ["1234\n12345\n", "123", "4567", "89\nok\n"];
    expect(shown(new LineReader(4), ...chunks)).toEqual(["1234", [5, ""], [9, ""], "ok"]);
    expect(shown(new LineReader(4, { keepsBeginning: true }), ...chunks)).toEqual([
      "1234",
      [5, "1234"],
      [9, "1234"],
      "ok",
    ]);
  });

  it("that are too long and never end are told too", () => {
    expect(shown(new LineReader(4), "123456")).toEqual([[6, ""]]);
  });
});
