import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { BatchPump } from "./batch-pump.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const quiet = (): undefined => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

function scene(gatherMs?: number) {
  const batches: (readonly number[])[] = [];
  const write = (items: readonly number[]): Promise<void> => Promise.resolve(void batches.push(items));
  const pump = new BatchPump<number>({ name: "numbers", maxBytes: 10, batchItems: 10, gatherMs, write, logger });
  return { pump, batches };
}

it("writes what comes in one go together, at once", async () => {
  const { pump, batches } = scene();
  for (const item of [1, 2]) pump.push(item, 1);
  await vi.advanceTimersByTimeAsync(1);
  expect(batches).toEqual([[1, 2]]);
});

it("has the first wait for others as long as it is told, and no longer than somebody asks for it", async () => {
  const { pump, batches } = scene(50);
  pump.push(1, 1);
  await vi.advanceTimersByTimeAsync(40);
  pump.push(2, 1);
  expect(batches).toEqual([]);
  await vi.advanceTimersByTimeAsync(11);
  expect(batches).toEqual([[1, 2]]);
  pump.push(3, 1);
  pump.hurry();
  await vi.advanceTimersByTimeAsync(1);
  expect(batches.at(-1)).toEqual([3]);
  pump.push(4, 1);
  const idle = pump.idle();
  await vi.advanceTimersByTimeAsync(1);
  await idle;
  expect(batches.at(-1)).toEqual([4]);
  pump.push(5, 1);
  const closed = pump.close(1_000);
  await vi.advanceTimersByTimeAsync(1);
  await closed;
  expect(batches.at(-1)).toEqual([5]);
});
