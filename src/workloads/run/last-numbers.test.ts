import { expect, it } from "vitest";
import { unknownStats, type ContainerStats } from "../../engines/container-stats.ts";
import type { WatchedEnd } from "./until-ended.ts";
import { lastNumbers } from "./last-numbers.ts";

/** The sandbox's peak is how often it has been asked. */
async function numbersOf(end: WatchedEnd, msBetween: number): Promise<number | null> {
  let asked = 0;
  let nowMs = 0;
  const stats = (): Promise<ContainerStats> => Promise.resolve({ ...unknownStats, memoryPeakBytes: ++asked });
  const numbers = lastNumbers({ sandbox: { stats }, outputEnded: Promise.resolve(), monotonicMs: () => nowMs });
  await Promise.resolve();
  nowMs = msBetween;
  return (await numbers(end)).memoryPeakBytes;
}

const well: WatchedEnd = { exitCode: 0, interruption: null };

it("are those of the end of a program's output when it ended well right after", async () => {
  expect(await numbersOf(well, 5)).toBe(1);
});

it.each([
  ["went on without output", well, 1_000],
  ["failed", { exitCode: 137, interruption: null }, 5],
  ["was ended", { exitCode: 0, interruption: "timeout" }, 5],
  ["was lost", { exitCode: null, interruption: "lost" }, 5],
] as const)("are asked again when it %s", async (_, end, msBetween) => {
  expect(await numbersOf(end, msBetween)).toBe(2);
});

it("are asked for the first time when its output has not ended", async () => {
  let asked = 0;
  const stats = (): Promise<ContainerStats> => Promise.resolve({ ...unknownStats, memoryPeakBytes: ++asked });
  const outputEnded = new Promise<void>(() => undefined);
  const numbers = lastNumbers({ sandbox: { stats }, outputEnded, monotonicMs: () => 0 });
  expect((await numbers(well)).memoryPeakBytes).toBe(1);
});
