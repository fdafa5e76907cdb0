import { describe, expect, it } from "vitest";
import { wireEventSchema, type WireEvent } from "../operations/contract/wire-messages.ts";
import { WireEncoder } from "./wire-encoder.ts";

const output = (encoder: WireEncoder, ...bytes: number[]): WireEvent[] =>
  encoder.encode({ type: "output", stream: "stdout", bytes: Uint8Array.from(bytes) });

function bytesOf(events: readonly WireEvent[]): number[] {
  return events.flatMap((event) =>
    event.event === "output"
      ? [...(event.text === undefined ? Buffer.from(event.base64 ?? "", "base64") : Buffer.from(event.text))]
      : [],
  );
}

describe("events on the wire", () => {
  it("never cut a character, whatever pieces it comes in", () => {
    const text = Buffer.from("aß€😀\0z");
    for (let cut = 0; cut <= text.length; cut += 1) {
      const encoder = new WireEncoder();
      const events = [text.subarray(0, cut), text.subarray(cut)].flatMap((bytes) => output(encoder, ...bytes));
      expect(events.map((event) => (event.event === "output" ? event.text : null)).join("")).toBe(text.toString());
      expect(encoder.flush()).toEqual([]);
    }
  });

  it("carry every byte of what is not UTF-8", () => {
    const bytes = Array.from({ length: 512 }, (_, index) => (index * 37) % 256);
    for (const size of [1, 2, 3, 7, 512]) {
      const encoder = new WireEncoder();
      const events: WireEvent[] = [];
      for (let at = 0; at < bytes.length; at += size) events.push(...output(encoder, ...bytes.slice(at, at + size)));
      events.push(...encoder.flush());
      expect(bytesOf(events)).toEqual(bytes);
      for (const event of events) expect(wireEventSchema.parse(event)).toEqual(event);
    }
  });

  it("show the rest of a character that never came, at the end", () => {
    const encoder = new WireEncoder();
    expect(output(encoder, 0x61, 0xe2, 0x82)).toEqual([{ event: "output", stream: "stdout", text: "a" }]);
    expect(encoder.flush()).toEqual([{ event: "output", stream: "stdout", base64: "4oI=" }]);
    expect(encoder.flush()).toEqual([]);
  });

  it("keep the streams apart", () => {
    const encoder = new WireEncoder();
    output(encoder, 0xc3);
    expect(encoder.encode({ type: "output", stream: "stderr", bytes: Uint8Array.from([0x9f]) })).toEqual([
      { event: "output", stream: "stderr", base64: "nw==" },
    ]);
    expect(output(encoder, 0x9f)).toEqual([{ event: "output", stream: "stdout", text: "ß" }]);
  });
});
