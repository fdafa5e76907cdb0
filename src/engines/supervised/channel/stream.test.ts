import { describe, expect, it } from "vitest";
import { frameLimits } from "../frames/frame-table.ts";
import { ProtocolError } from "../frames/frame.ts";
import { InputLanes, type InputLane } from "./stream.ts";

const { inputTotalBytes, inputWindowBytes, maxStreams } = frameLimits;

/** A lane, and how much it has sent. */
function opened(lanes: InputLanes, stream: number): { readonly lane: InputLane; readonly sent: () => number } {
  let bytes = 0;
  const lane = lanes.open(stream, (piece) => (bytes += piece.length));
  return { lane, sent: () => bytes };
}

const nothing = (): void => undefined;

describe("InputLanes", () => {
  it("leaves room for a stream that begins, however many there are that nobody reads", () => {
    const lanes = new InputLanes();
    const all = Array.from({ length: maxStreams }, (_, index) => opened(lanes, index + 1));
    for (const { lane } of all) lane.write(Buffer.alloc(2 * inputWindowBytes), nothing);
    expect(all.reduce((sum, { sent }) => sum + sent(), 0)).toBeLessThanOrEqual(inputTotalBytes);
    expect(Math.min(...all.map(({ sent }) => sent()))).toBeGreaterThanOrEqual(512);
  });

  it("takes no credit for more than was sent, and none of a stream that is not live", () => {
    const lanes = new InputLanes();
    const { lane } = opened(lanes, 1);
    lane.write(Buffer.alloc(10), nothing);
    expect(() => lanes.credit(1, 11)).toThrow(ProtocolError);
    expect(() => lanes.credit(1, 0)).toThrow(ProtocolError);
    expect(() => lanes.credit(2, 1)).toThrow(ProtocolError);
    lanes.credit(1, 10);
    expect(() => lanes.credit(1, 1)).toThrow(ProtocolError);
  });

  it("keeps the order of bytes and of what is said between them", () => {
    const lanes = new InputLanes();
    const said: string[] = [];
    const lane = lanes.open(1, (piece) => said.push(Buffer.from(piece).toString()));
    lane.write(Buffer.from("a"), () => said.push("a is sent"));
    const open = lane.gate(() => said.push("gate"));
    lane.write(Buffer.from("b"), nothing);
    lane.after(
      () => said.push("end"),
      () => said.push("done"),
    );
    expect(said).toEqual(["a", "a is sent"]);
    open();
    expect(said).toEqual(["a", "a is sent", "gate", "b", "end", "done"]);
  });

  it("settles what waits when its stream ends, and says nothing of it", () => {
    const lanes = new InputLanes();
    const { lane, sent } = opened(lanes, 1);
    const settled: string[] = [];
    lane.write(Buffer.alloc(3 * inputWindowBytes), () => settled.push("write"));
    lane.after(
      () => settled.push("said"),
      () => settled.push("after"),
    );
    lanes.close(1);
    lane.write(Buffer.from("late"), () => settled.push("late"));
    expect(settled).toEqual(["write", "after", "late"]);
    expect(sent()).toBe(inputWindowBytes);
  });
});
