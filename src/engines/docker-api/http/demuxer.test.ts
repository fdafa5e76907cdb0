import { describe, expect, it } from "vitest";
import { createDemuxer } from "./demuxer.ts";

function frame(type: number, text: string): Buffer {
  const payload = Buffer.from(text);
  const header = Buffer.alloc(8);
  header[0] = type;
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

function fed(pieces: readonly Uint8Array[]): { stdout: string; stderr: string } {
  const demux = createDemuxer();
  const all = pieces.flatMap((piece) => demux(piece));
  const text = (stream: string): string =>
    Buffer.concat(all.filter((chunk) => chunk.stream === stream).map((chunk) => chunk.bytes)).toString("utf8");
  return { stdout: text("stdout"), stderr: text("stderr") };
}

describe("createDemuxer", () => {
  const stream = Buffer.concat([frame(1, "one é"), frame(2, "two"), frame(1, ""), frame(2, "漢"), frame(1, "three")]);
  const expected = { stdout: "one éthree", stderr: "two漢" };

  it("gives the same for every place that the stream may be split at", () => {
    for (let at = 0; at <= stream.length; at += 1) {
      expect(fed([stream.subarray(0, at), stream.subarray(at)]), `split at ${at}`).toEqual(expected);
    }
  });

  it("gives the same byte by byte", () => {
    expect(fed([...stream].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  it("delivers the bytes of a frame that is not whole yet", () => {
    const demux = createDemuxer();
    const whole = frame(2, "slowly");
    expect(demux(whole.subarray(0, 7))).toEqual([]);
    expect(demux(whole.subarray(7, 10))).toEqual([{ stream: "stderr", bytes: Buffer.from("sl") }]);
    expect(demux(whole.subarray(10))).toEqual([{ stream: "stderr", bytes: Buffer.from("owly") }]);
  });

  it("joins neighbouring frames of one stream and keeps the order of the streams", () => {
    const bytes = Buffer.concat([frame(1, "a"), frame(1, "b"), frame(2, "c"), frame(1, "d")]);
    const shown = createDemuxer()(bytes).map((chunk) => `${chunk.stream} ${Buffer.from(chunk.bytes).toString()}`);
    expect(shown).toEqual(["stdout ab", "stderr c", "stdout d"]);
  });

  it("takes the engine's own complaints for stderr", () => {
    expect(fed([frame(3, "broken pipe")]).stderr).toBe("broken pipe");
  });

  it("reads lengths as 32 bits without a sign", () => {
    const demux = createDemuxer();
    expect(demux(Buffer.from([1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x61]))).toHaveLength(1);
    expect(demux(Buffer.from("b"))).toEqual([{ stream: "stdout", bytes: Buffer.from("b") }]);
  });

  it("refuses bytes that are no frame", () => {
    expect(() => createDemuxer()(Buffer.from("plain text"))).toThrow(
      expect.objectContaining({ errorType: "INTERNAL" }),
    );
  });
});
