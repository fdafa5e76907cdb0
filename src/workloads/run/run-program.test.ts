import { PassThrough } from "node:stream";
import { expect, it, describe } from "vitest";
import { unknownStats, type ContainerStats } from "../../engines/container-stats.ts";
import { OutputQueue } from "../../engines/output-queue.ts";
import { Redaction } from "../../policy/redaction.ts";
import { OutputJoint } from "../../sandbox/sandbox-output.ts";
import { noNetworkReport } from "./network-report.ts";
import { runProgram, lastNumbers, MemoryUse } from "./run-program.ts";
import type { FirstCause } from "../../sandbox/outcome.ts";

it("takes the program's network away before what it left is read", async () => {
  const order: string[] = [];
  const output = new OutputQueue(() => undefined);
  output.end();
  const stats = () => Promise.resolve(unknownStats);
  const judged = await runProgram({
    sandbox: { output: new OutputJoint(), stats, measure: stats, state: "running" },
    record: { id: "run-1", policyDigest: "", end: ({ outcome }) => void order.push(`recorded ${outcome}`) },
    start: () =>
      Promise.resolve({
        process: {
          stdin: new PassThrough().resume(),
          output,
          exit: Promise.resolve({ exitCode: 0 }),
          kill: () => Promise.resolve(),
        },
        networkReport: () => Promise.resolve(noNetworkReport).finally(() => order.push("network asked")),
        [Symbol.dispose]: () => void order.push("network closed"),
      }),
    job: { main: "main.py", arguments: [], environment: {}, files: [], data: [], folder: "/work" },
    stdin: new PassThrough().end(),
    redaction: new Redaction([]),
    timeoutMs: 5_000,
    maxOutputBytes: 100,
    onOutput: () => undefined,
    monotonicMs: () => performance.now(),
    end: () => Promise.resolve(),
    isLost: () => order.push("results read") > 100,
  });
  expect(judged.outcome).toBe("completed");
  expect(order.slice(0, 4)).toEqual(["network asked", "network closed", "results read", "recorded completed"]);
});

/** The sandbox's peak is how often it has been asked. */
async function numbersOf(end: FirstCause, msBetween: number): Promise<number | null> {
  let asked = 0;
  let nowMs = 0;
  const stats = (): Promise<ContainerStats> => Promise.resolve({ ...unknownStats, memoryPeakBytes: ++asked });
  const numbers = lastNumbers({ sandbox: { stats }, outputEnded: Promise.resolve(), monotonicMs: () => nowMs });
  await Promise.resolve();
  nowMs = msBetween;
  return (await numbers(end)).memoryPeakBytes;
}

const well: FirstCause = { exitCode: 0, interruption: null };

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

const stats = (memoryBytes: number | null, memoryPeakBytes: number | null): ContainerStats => ({
  ...unknownStats,
  memoryBytes,
  memoryPeakBytes,
});

/** A sandbox whose memory use is seen to be these numbers, one after another; resolves when all were seen. */
function seen(numbers: readonly number[]) {
  const all = Promise.withResolvers<void>();
  const left = [...numbers];
  const measure = async () => {
    const bytes = left.shift();
    if (bytes === undefined) all.resolve();
    return stats(bytes ?? 0, 900);
  };
  return { sandbox: { measure }, all: all.promise };
}

const never = { measure: () => new Promise<ContainerStats>(() => undefined) };

describe("memory that one program of a sandbox used", () => {
  it("is the kernel's peak where that rose meanwhile", () => {
    using use = new MemoryUse(never, stats(10, 500));
    expect(use.peakBytes(stats(10, 501))).toBe(501);
  });

  it("is the first peak that anything counted", () => {
    using use = new MemoryUse(never, stats(0, null));
    expect(use.peakBytes(stats(0, 70))).toBe(70);
  });

  it("is the highest use that was seen where an earlier program used more", async () => {
    const { sandbox, all } = seen([30, 80, 20]);
    using use = new MemoryUse(sandbox, stats(10, 900));
    await all;
    expect(use.peakBytes(stats(10, 900))).toBe(80);
  });

  it.each([stats(10, 900), unknownStats])("is unknown where none was seen, before: %j", (before) => {
    using use = new MemoryUse(never, before);
    expect(use.peakBytes(stats(10, 900))).toBeNull();
  });
});
