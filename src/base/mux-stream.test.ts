import { describe, expect, it } from "vitest";
import { createFrameReader, encodeFrame, frameTypes, maxPayloadBytes } from "./mux-stream.ts";

describe("createFrameReader", () => {
  const first = encodeFrame(frameTypes.data, 7, Buffer.from("hello"));
  const second = encodeFrame(frameTypes.end, 8);

  it("gives each frame back, however the bytes arrive", () => {
    const all = Buffer.concat([first, second]);
    for (const size of [1, 2, 5, 9, 13, all.length]) {
      const read = createFrameReader();
      const frames = [];
      for (let at = 0; at < all.length; at += size) frames.push(...read(all.subarray(at, at + size)));
      expect(frames.map(({ type, connection, payload }) => [type, connection, payload.toString()])).toEqual([
        [frameTypes.data, 7, "hello"],
        [frameTypes.end, 8, ""],
      ]);
    }
  });

  it("refuses an unknown type", () => {
    expect(() => createFrameReader()(encodeFrame(6, 1))).toThrow(RangeError);
  });

  it("refuses a payload that is too long before it has come", () => {
    const header = encodeFrame(frameTypes.data, 1);
    header.writeUInt32BE(maxPayloadBytes + 1, 5);
    expect(() => createFrameReader()(header)).toThrow(RangeError);
  });
});
