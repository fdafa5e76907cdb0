import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ChangeClock } from "./live-copy.ts";

let turns: boolean[] = [];
let failure: Error | null = null;
let isWatched = true;
let clock: ChangeClock;

beforeEach(() => {
  vi.useFakeTimers();
  [turns, failure, isWatched] = [[], null, true];
  clock = new ChangeClock(
    () => Date.now(),
    async (isDeep) => {
      turns.push(isDeep);
      if (failure !== null) throw failure;
      return { isWatched };
    },
  );
  clock.start({ isWatched: true });
});
afterEach(async () => {
  await clock.close();
  vi.useRealTimers();
});

it("takes what comes together as one turn, and waits for no end of it", async () => {
  for (let count = 0; count < 5; count += 1) clock.wake();
  await vi.advanceTimersByTimeAsync(100);
  expect(turns).toEqual([false]);
  for (let count = 0; count < 50; count += 1) {
    clock.wake();
    await vi.advanceTimersByTimeAsync(10);
  }
  expect(turns.length).toBeGreaterThanOrEqual(2);
});

it("looks through everything now and then, and always where nothing is watched", async () => {
  await vi.advanceTimersByTimeAsync(16_000);
  expect(turns).toEqual([true]);
  isWatched = false;
  clock.wake();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(turns.filter((isDeep) => isDeep).length).toBeGreaterThan(4);
});

it("tries again what failed, ever more slowly, and looks through everything then", async () => {
  failure = new Error("no");
  clock.wake();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(turns.length).toBeLessThan(9);
  failure = null;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(turns.at(-1)).toBe(true);
});

it("settles with a turn that begins afterwards, or fails with it", async () => {
  const settled = clock.turn();
  await vi.advanceTimersByTimeAsync(1);
  await settled;
  expect(turns).toEqual([true]);
  failure = new Error("no");
  const failed = Promise.allSettled([clock.turn()]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await failed).toMatchObject([{ status: "rejected", reason: failure }]);
  const waiting = Promise.allSettled([clock.turn()]);
  await clock.close();
  expect(await waiting).toMatchObject([{ status: "rejected" }]);
  await expect(clock.turn()).rejects.toThrow("closed");
});
