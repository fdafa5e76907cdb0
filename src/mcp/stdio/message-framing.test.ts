import { describe, expect, it } from "vitest";
import { MessageFraming } from "./message-framing.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const shown = (framing: MessageFraming, ...chunks: string[]): unknown[] =>
  [...chunks.flatMap((chunk) => framing.push(bytes(chunk))), ...framing.end()].map((frame) =>
    frame.type === "line" ? Buffer.from(frame.bytes).toString() : frame.length,
  );

describe("lines", () => {
  it("come out of chunks of any size", () => {
    expect(shown(new MessageFraming(100), "a", "b\nc", "\nd\ne", "f\n")).toEqual(["ab", "c", "d", "ef"]);
  });

  it("are given without their end, and the last one without any", () => {
    expect(shown(new MessageFraming(100), "one\r\ntwo")).toEqual(["one\r", "two"]);
  });

  it("that are empty are left out", () => {
    expect(shown(new MessageFraming(100), "\n\r\n \t\na\n\n")).toEqual(["a"]);
  });

  it("may hold any byte", () => {
    expect(shown(new MessageFraming(100), "a\0b\n")).toEqual(["a\0b"]);
  });

  it("that are too long are reported with their length, and the next one is whole", () => {
    expect(shown(new MessageFraming(4), "1234\n12345\n", "123", "4567", "89\nok\n")).toEqual(["1234", 5, 9, "ok"]);
  });

  it("that are too long and never end are reported too", () => {
    expect(shown(new MessageFraming(4), "123456")).toEqual([6]);
  });
});
