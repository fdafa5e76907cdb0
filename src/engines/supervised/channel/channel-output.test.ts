import { describe, expect, it } from "vitest";
import { heldBytes } from "../../../../test/helpers/held-memory.ts";
import { OutputPieces, fairWindows, OutputWindows } from "./channel-output.ts";
import { ProtocolError } from "../frames/frame.ts";

const text = (pieces: OutputPieces, stream: "stdout" | "stderr"): string => {
  let all = "";
  for (let piece = pieces.take(); piece !== undefined; piece = pieces.take()) {
    if (piece.stream === stream) all += Buffer.from(piece.bytes).toString();
  }
  return all;
};

describe("OutputPieces", () => {
  it("joins what belongs together and keeps the order of the two streams", () => {
    const pieces = new OutputPieces(() => undefined);
    for (const letter of "abc") pieces.push("stdout", Buffer.from(letter));
    pieces.push("stderr", Buffer.from("!"));
    pieces.push("stdout", Buffer.from("d"));
    const taken = [pieces.take(), pieces.take(), pieces.take(), pieces.take()];
    expect(taken.map((piece) => piece && [piece.stream, Buffer.from(piece.bytes).toString()])).toEqual([
      ["stdout", "abc"],
      ["stderr", "!"],
      ["stdout", "d"],
      undefined,
    ]);
  });

  it("keeps each stream's order and every byte when tiny pieces alternate without end", () => {
    const pieces = new OutputPieces(() => undefined);
    for (let count = 0; count < 5_000; count += 1) {
      pieces.push("stdout", Buffer.from(String(count % 10)));
      pieces.push("stderr", Buffer.from(String(count % 7)));
    }
    const expected = Array.from({ length: 5_000 }, (_, count) => count % 10).join("");
    expect(text(pieces, "stdout")).toBe(expected);
  });

  it("holds little more than the bytes themselves, whatever they came in", () => {
    const pieces = new OutputPieces(() => undefined);
    const before = heldBytes();
    for (let count = 0; count < 8_192; count += 1) {
      const frame = Buffer.alloc(65_536);
      pieces.push(count % 2 === 0 ? "stdout" : "stderr", frame.subarray(5, 6));
    }
    expect(heldBytes() - before).toBeLessThan(50_000_000);
    expect(text(pieces, "stdout")).toHaveLength(4_096);
  });

  it("does not keep the frame that a piece came in", () => {
    const pieces = new OutputPieces(() => undefined);
    const frame = Buffer.alloc(65_536, "x");
    pieces.push("stdout", frame.subarray(5, 6));
    const { bytes } = pieces.take()!;
    expect(bytes.buffer.byteLength).toBeLessThan(1_000);
  });

  it("tells how much was consumed: what is taken, what is dropped, and what comes when nobody wants it", () => {
    let consumed = 0;
    const pieces = new OutputPieces((bytes) => (consumed += bytes));
    pieces.push("stdout", Buffer.alloc(10));
    expect(consumed).toBe(0);
    pieces.take();
    expect(consumed).toBe(10);
    pieces.push("stdout", Buffer.alloc(5));
    pieces.discard();
    expect(consumed).toBe(15);
    pieces.push("stderr", Buffer.alloc(2));
    expect(consumed).toBe(17);
    expect(pieces.isOver).toBe(true);
  });

  it("gives one who waits what comes, and lets them go at the end", async () => {
    const pieces = new OutputPieces(() => undefined);
    const reader = pieces[Symbol.asyncIterator]();
    const waiting = [reader.next(), reader.next(), reader.next()];
    pieces.push("stdout", Buffer.from("a"));
    pieces.end();
    expect((await Promise.all(waiting)).map(({ done }) => done)).toEqual([false, true, true]);
    expect(await reader.next()).toEqual({ value: undefined, done: true });
  });
});

function opened(): { readonly windows: OutputWindows; readonly given: [stream: number, bytes: number][] } {
  const given: [number, number][] = [];
  const windows = new OutputWindows({ streamBytes: 100, totalBytes: 150 }, (...each) => given.push(each));
  for (const stream of [1, 2]) windows.open(stream);
  return { windows, given };
}

describe("OutputWindows", () => {
  it("are full at their size and not beyond", () => {
    const { windows } = opened();
    windows.receive(1, 100);
    expect(() => windows.receive(1, 1)).toThrow(ProtocolError);
    const other = opened().windows;
    other.receive(1, 100);
    other.receive(2, 50);
    expect(() => other.receive(2, 1)).toThrow(/total window/);
  });

  it("know no output without bytes, and none of a stream that is not live", () => {
    const { windows } = opened();
    expect(() => windows.receive(1, 0)).toThrow(ProtocolError);
    expect(() => windows.receive(3, 1)).toThrow(ProtocolError);
    windows.close(1);
    expect(() => windows.receive(1, 1)).toThrow(ProtocolError);
  });

  it("give back a part at a time, and the rest with the stream's end", () => {
    const { windows, given } = opened();
    windows.receive(1, 100);
    windows.consume(1, 10);
    expect(given).toEqual([]);
    windows.consume(1, 20);
    expect(given).toEqual([[1, 30]]);
    windows.receive(1, 30);
    windows.close(1);
    expect(given).toEqual([
      [1, 30],
      [1, 100],
    ]);
    // What is read after that was given back already.
    windows.consume(1, 100);
    expect(given).toHaveLength(2);
  });

  it("have room for every stream by default, so that none waits for another", () => {
    expect(fairWindows.totalBytes).toBeGreaterThanOrEqual(256 * fairWindows.streamBytes);
  });
});
