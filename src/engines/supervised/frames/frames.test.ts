import { describe, expect, it } from "vitest";
import {
  encodeFrame,
  FrameReader,
  fieldsBytes,
  ProtocolError,
  type FrameLayout,
  type FrameName,
  type FrameOf,
} from "./frame.ts";
import { frameLimits, frameTable } from "./frame-table.ts";

const names = Object.keys(frameTable) as FrameName[];
const layoutOf = (name: FrameName): FrameLayout => frameTable[name];

/** A frame with another value in each field, and where there is a tail one of five bytes. */
function sample(name: FrameName): FrameOf<FrameName> {
  const layout = layoutOf(name);
  const kinds = Object.entries(layout.fields).filter(([field]) => field !== "zero");
  const values = kinds.map(([field, kind], index) => [
    field,
    kind === "u64" ? 2n ** 63n + BigInt(index) : 200 + index - (kind === "u8" ? 100 : 0),
  ]);
  const fields = { ...Object.fromEntries(values), ...(layout.tail ? { tail: Buffer.from("tail!") } : {}) };
  const stream = layout.stream === "zero" ? 0 : 9;
  return { name, stream, fields } as FrameOf<FrameName>;
}

function encode({ name, stream, fields }: FrameOf<FrameName>, epoch = 0x1234): Buffer {
  return encodeFrame(name, { epoch, stream }, fields as never);
}

const senderOf = (name: FrameName): "host" | "supervisor" => (layoutOf(name).from === "host" ? "host" : "supervisor");

function read(name: FrameName, pieces: readonly Buffer[], epoch: number | null = 0x1234): FrameOf<FrameName>[] {
  const frames: FrameOf<FrameName>[] = [];
  const reader = new FrameReader<FrameName>(senderOf(name), epoch);
  for (const piece of pieces) reader.read(piece, (frame) => frames.push(frame));
  return frames;
}

/** Names, streams and values without the identity of buffers. */
const plain = (frames: readonly FrameOf<FrameName>[]): unknown =>
  frames.map(({ name, stream, fields }) => [
    name,
    stream,
    Object.entries(fields).map(([field, value]) => [
      field,
      value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value,
    ]),
  ]);

describe("frames", () => {
  it.each(names)("%s comes back as it was, wherever it is cut", (name) => {
    const frame = sample(name);
    const bytes = Buffer.concat([encode(frame), encode(frame)]);
    const expected = plain([frame, frame]);
    expect(plain(read(name, [bytes]))).toEqual(expected);
    for (let cut = 1; cut < bytes.length; cut += 1) {
      expect(plain(read(name, [bytes.subarray(0, cut), bytes.subarray(cut)])), `cut at ${cut}`).toEqual(expected);
    }
    expect(
      plain(
        read(
          name,
          Array.from(bytes, (byte) => Buffer.from([byte])),
        ),
      ),
    ).toEqual(expected);
  });

  it("is laid out as the protocol says", () => {
    const bytes = encode({ name: "ACCEPTED", stream: 0x8000_0001, fields: { listener: 3, port: 0xabcd } });
    expect(bytes.toString("hex")).toBe("060000004a0034120100008003000000cdab");
    const ended = { reason: 1, stage: 9, error: 2, first: 1n, second: 2n };
    expect(encode({ name: "ENDED", stream: 5, fields: ended }).subarray(12).toString("hex")).toBe(
      "010900000200000001000000000000000200000000000000",
    );
  });

  it.each(names)("%s does not fit with another length, epoch, stream or a byte that must be zero", (name) => {
    const layout = layoutOf(name);
    const bytes = encode(sample(name));
    const changed = (change: (copy: Buffer) => void): Buffer => {
      const copy = Buffer.from(bytes);
      change(copy);
      return copy;
    };
    const wrong: Record<string, Buffer> = {
      "another epoch": changed((copy) => copy.writeUInt16LE(0x1235, 6)),
      "zero byte of the header": changed((copy) => copy.writeUInt8(1, 5)),
      "too long": changed((copy) => copy.writeUInt32LE(frameLimits.maxPayloadBytes + 1, 0)),
      "far too long": changed((copy) => copy.writeUInt32LE(0xffff_ffff, 0)),
    };
    if (!layout.tail) wrong["a byte more"] = changed((copy) => copy.writeUInt32LE(fieldsBytes(layout) + 1, 0));
    if (fieldsBytes(layout) > 0)
      wrong["a byte less"] = changed((copy) => copy.writeUInt32LE(fieldsBytes(layout) - 1, 0));
    if (layout.stream === "zero") wrong["a stream"] = changed((copy) => copy.writeUInt32LE(1, 8));
    else if (layout.stream !== "liveOrZero") wrong["no stream"] = changed((copy) => copy.writeUInt32LE(0, 8));
    for (const [what, frame] of Object.entries(wrong)) {
      expect(() => read(name, [frame]), what).toThrow(ProtocolError);
      expect(() => read(name, [frame.subarray(0, 12)]), `${what}, by its header alone`).toThrow(ProtocolError);
    }
  });

  it.each(["host", "supervisor"] as const)("refuses each type that the %s does not send", (sender) => {
    const sent = names.filter((name) => layoutOf(name).from === sender || layoutOf(name).from === "both");
    const types = new Set(sent.map((name) => layoutOf(name).type));
    const others = Array.from({ length: 256 }, (_, type) => type).filter((type) => !types.has(type));
    expect(others.length).toBeGreaterThan(200);
    for (const type of others) {
      const header = Buffer.alloc(12);
      header.writeUInt8(type, 4);
      const reader = new FrameReader<FrameName>(sender, null);
      expect(() => reader.read(header, () => undefined), `${type}`).toThrow(/unknown type/);
    }
  });

  it("refuses a field of zeros that is not", () => {
    const frame = encode(sample("EXIT"));
    frame.writeUInt16LE(1, 12 + 2);
    expect(() => read("EXIT", [frame])).toThrow(/not zero/);
  });

  it("throws for every random stream of bytes that is no frame, and never reads beyond", () => {
    let seed = 1;
    const random = (): number => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0) >>> 16;
    const errors: unknown[] = [];
    for (let round = 0; round < 2_000; round += 1) {
      const name = names[random() % names.length] ?? "PONG";
      const bytes = encode(sample(name));
      for (let hits = 0; hits < 3; hits += 1) bytes.writeUInt8(random() & 0xff, random() % bytes.length);
      try {
        read(name, [bytes]);
      } catch (error) {
        errors.push(error);
      }
    }
    expect(errors.length).toBeGreaterThan(1_000);
    expect(errors.filter((error) => !(error instanceof ProtocolError))).toEqual([]);
  });

  it("does not write what a field cannot hold, nor a payload that is too long", () => {
    expect(() => encode({ name: "RESIZE", stream: 1, fields: { rows: 65_536, columns: 1 } })).toThrow(RangeError);
    expect(() => encode({ name: "PING", stream: 0, fields: { nonce: -1n } })).toThrow(RangeError);
    const tail = Buffer.alloc(frameLimits.maxPayloadBytes + 1);
    expect(() => encode({ name: "INPUT", stream: 1, fields: { tail } })).toThrow(RangeError);
    expect(encode({ name: "INPUT", stream: 1, fields: { tail: tail.subarray(1) } })).toHaveLength(65_536);
  });

  it("knows whether it is within a frame", () => {
    const reader = new FrameReader<FrameName>("supervisor", null);
    const frame = encode(sample("PONG"));
    expect(reader.isWithinFrame).toBe(false);
    reader.read(frame.subarray(0, 5), () => undefined);
    expect(reader.isWithinFrame).toBe(true);
    reader.read(frame.subarray(5), () => undefined);
    expect(reader.isWithinFrame).toBe(false);
  });
});
