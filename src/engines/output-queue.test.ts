import { describe, expect, it, vi } from "vitest";
import type { OutputChunk } from "./engine.ts";
import { OutputQueue } from "./output-queue.ts";

const chunk = (text: string): OutputChunk => ({ stream: "stdout", bytes: Buffer.from(text) });
const big = (): OutputChunk => chunk("x".repeat(65_536));

describe("OutputQueue", () => {
  it("gives what waits, then what comes, then the end", async () => {
    const queue = new OutputQueue(vi.fn());
    queue.push(chunk("first"));
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { bytes } of queue) seen.push(Buffer.from(bytes).toString());
    })();
    await Promise.resolve();
    queue.push(chunk("second"));
    queue.end();
    await reading;
    expect(seen).toEqual(["first", "second"]);
  });

  it("lets what waits be read after the end and takes nothing more", async () => {
    const queue = new OutputQueue(vi.fn());
    queue.push(chunk("kept"));
    queue.end();
    queue.push(chunk("late"));
    const seen: OutputChunk[] = [];
    for await (const each of queue) seen.push(each);
    expect(seen).toEqual([chunk("kept")]);
  });

  it("is full at 256 KiB and asks for more once when there is room", async () => {
    const onRoom = vi.fn();
    const queue = new OutputQueue(onRoom);
    for (let count = 0; count < 3; count += 1) queue.push(big());
    expect(queue.isFull).toBe(false);
    queue.push(big());
    expect(queue.isFull).toBe(true);
    const iterator = queue[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.next();
    expect(queue.isFull).toBe(false);
    expect(onRoom).toHaveBeenCalledTimes(1);
  });

  it("is filled by a flood of single bytes, too", () => {
    const queue = new OutputQueue(vi.fn());
    let pushed = 0;
    while (!queue.isFull) {
      queue.push(chunk("y"));
      pushed += 1;
    }
    expect(pushed).toBeLessThan(10_000);
  });

  it("drops the rest and stays open for the source when the consumer turns away", async () => {
    const onRoom = vi.fn();
    const queue = new OutputQueue(onRoom);
    for (let count = 0; count < 5; count += 1) queue.push(big());
    for await (const _ of queue) break;
    expect(onRoom).toHaveBeenCalled();
    for (let count = 0; count < 5; count += 1) queue.push(big());
    expect(queue.isFull).toBe(false);
    expect((await queue[Symbol.asyncIterator]().next()).done).toBe(true);
  });
});
