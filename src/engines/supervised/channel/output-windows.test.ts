import { describe, expect, it } from "vitest";
import { ProtocolError } from "../frames/frame.ts";
import { fairWindows, OutputWindows } from "./output-windows.ts";

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
