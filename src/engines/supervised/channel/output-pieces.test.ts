import { describe, expect, it } from "vitest";
import { heldBytes } from "../../../../test/helpers/held-memory.ts";
import { OutputPieces } from "./output-pieces.ts";

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
