import { afterEach, beforeEach, describe, expect, it, vi, type Mock } from "vitest";
import { unknownStats, type ContainerStats } from "../engines/container-stats.ts";
import type { ObservedSandbox } from "../sandbox/sandbox-observer.ts";
import { Sampler, mergeSamples, sampleOf, type Reading } from "./sampler.ts";

type Measure = (options?: { readonly signal?: AbortSignal | undefined }) => Promise<ContainerStats>;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const silent = (): void => undefined;

/** By fake timers, whose clock the sampler goes by. */
function started(): { readonly sampler: Sampler; readonly taken: string[] } {
  const taken: string[] = [];
  const sampler = new Sampler({
    trafficOf: () => undefined,
    onSample: (id) => void taken.push(id),
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
  });
  return { sampler, taken };
}

type Watch = ObservedSandbox["sandbox"]["watchStats"];

function open(sampler: Sampler, id: string, measure: Measure, engine = "one", noNetwork = "yes"): void {
  opened(sampler, { id, measure, capabilities: { noNetwork }, watchStats: () => false }, engine);
}

/** A sandbox that tells its statistics by itself, and how it tells them; it is never asked. */
function openTelling(sampler: Sampler, id: string): { readonly tell: () => void; readonly watch: Mock<Watch> } {
  let told: Parameters<Watch>[0] = () => undefined;
  const watch = vi.fn<Watch>((listener) => ((told = listener), true));
  const measure = (): never => expect.fail("it was asked");
  opened(sampler, { id, measure, capabilities: { noNetwork: "yes" }, watchStats: watch }, "one");
  return { tell: () => told(unknownStats), watch };
}

function opened(sampler: Sampler, sandbox: object, engine: string): void {
  sampler.sandboxOpened({
    sandbox,
    engine,
    kind: "execute",
    principal: "ann",
    limits: {},
  } as unknown as ObservedSandbox);
}

const answers: Measure = () => Promise.resolve(unknownStats);
const never: Measure = () => new Promise(() => undefined);

describe("the sampler", () => {
  it("asks each live sandbox once a second, and none when none lives", async () => {
    const { sampler, taken } = started();
    expect(vi.getTimerCount()).toBe(0);
    open(sampler, "sbx-1", answers);
    open(sampler, "sbx-2", answers);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(taken).toEqual(["sbx-1", "sbx-2", "sbx-1", "sbx-2", "sbx-1", "sbx-2"]);
    sampler.sandboxRemoved("sbx-1");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(taken.slice(6)).toEqual(["sbx-2"]);
    sampler.sandboxRemoved("sbx-2");
    expect(vi.getTimerCount()).toBe(0);
    expect(sampler.counts).toEqual({ taken: 7, skipped: 0, failed: 0 });
    expect(sampler.find("sbx-1")?.ring.newest(10)).toHaveLength(3);
  });

  it("takes what a sandbox tells by itself from its first second on, and does not ask it", async () => {
    const { sampler, taken } = started();
    const { tell, watch } = openTelling(sampler, "sbx-1");
    await vi.advanceTimersByTimeAsync(999);
    expect(watch).not.toHaveBeenCalled();
    for (let second = 1; second <= 3; second++) {
      await vi.advanceTimersByTimeAsync(1_000);
      tell();
    }
    expect(watch).toHaveBeenCalledTimes(1);
    expect(taken).toEqual(["sbx-1", "sbx-1", "sbx-1"]);
    sampler.sandboxRemoved("sbx-1");
    await vi.advanceTimersByTimeAsync(1_000);
    tell();
    expect(sampler.counts).toEqual({ taken: 3, skipped: 0, failed: 0 });
  });

  it("takes one sample of what is told all at once", async () => {
    const { sampler } = started();
    const { tell } = openTelling(sampler, "sbx-1");
    await vi.advanceTimersByTimeAsync(1_000);
    for (let count = 0; count < 100; count++) tell();
    await vi.advanceTimersByTimeAsync(499);
    tell();
    expect(sampler.counts.taken).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    tell();
    expect(sampler.counts.taken).toBe(2);
  });

  it("leaves one out that still has not answered, and asks the others", async () => {
    const { sampler, taken } = started();
    const measure = vi.fn(never);
    open(sampler, "sbx-slow", measure);
    open(sampler, "sbx-2", answers);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(measure).toHaveBeenCalledTimes(1);
    expect(taken).toEqual(["sbx-2", "sbx-2", "sbx-2", "sbx-2"]);
    expect(sampler.counts).toEqual({ taken: 4, skipped: 3, failed: 0 });
  });

  it("leaves one alone for five seconds whose engine failed", async () => {
    const { sampler } = started();
    const measure = vi.fn<Measure>(() => Promise.reject(new Error("no")));
    open(sampler, "sbx-1", measure);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(measure).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(measure).toHaveBeenCalledTimes(2);
    expect(sampler.counts).toMatchObject({ taken: 0, failed: 2 });
  });

  it("has at most 32 questions on their way to one engine, and others beside them", async () => {
    const { sampler, taken } = started();
    for (let count = 0; count < 40; count++) open(sampler, `sbx-${count}`, never);
    open(sampler, "sbx-of-other", answers, "other");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sampler.counts).toEqual({ taken: 1, skipped: 8, failed: 0 });
    expect(taken).toEqual(["sbx-of-other"]);
  });

  it("takes no sample of a sandbox that has gone meanwhile", async () => {
    const { sampler, taken } = started();
    let answer: (stats: ContainerStats) => void = () => undefined;
    open(sampler, "sbx-1", () => new Promise((resolve) => (answer = resolve)));
    await vi.advanceTimersByTimeAsync(1_000);
    sampler.sandboxRemoved("sbx-1");
    answer(unknownStats);
    await vi.advanceTimersByTimeAsync(0);
    expect([taken, sampler.counts.taken]).toEqual([[], 0]);
  });

  it("keeps the samples of the 50 sandboxes that ended last", async () => {
    const { sampler } = started();
    for (let count = 0; count < 51; count++) open(sampler, `sbx-${count}`, answers);
    for (let count = 0; count < 51; count++) sampler.sandboxRemoved(`sbx-${count}`);
    expect([sampler.find("sbx-0"), sampler.find("sbx-1")?.principal]).toEqual([undefined, "ann"]);
  });

  it("knows of no traffic where the engine has no wall, and of none at all where it has one", async () => {
    const { sampler } = started();
    open(sampler, "sbx-wall", answers);
    open(sampler, "sbx-none", answers, "one", "no");
    await vi.advanceTimersByTimeAsync(1_000);
    const sent = (id: string) => sampler.find(id)?.ring.last?.networkSentBytes;
    expect([sent("sbx-wall"), sent("sbx-none")]).toEqual([0, null]);
  });
});

function reading(uptimeMs: number, cpuTimeMs: number | null): Reading {
  const stats = {
    ...unknownStats,
    cpuTimeMs,
    memoryBytes: 5,
    memoryCacheBytes: 3,
    scratchBytes: 4,
    diskReadBytes: 1,
    diskWriteBytes: 2,
  };
  return { atMs: 1_000_000 + uptimeMs, stats, traffic: { receivedBytes: 3, sentBytes: 4 }, uptimeMs };
}

describe("sampleOf", () => {
  it("says when it was taken, and what was used until then", () => {
    expect(sampleOf(reading(2_000, 2_500), reading(1_000, 1_000))).toEqual({
      takenAtMs: 1_002_000,
      cpuPercent: 150,
      memoryBytes: 5,
      memoryCacheBytes: 3,
      scratchBytes: 4,
      networkReceivedBytes: 3,
      networkSentBytes: 4,
      diskReadBytes: 1,
      diskWriteBytes: 2,
      uptimeMs: 2_000,
    });
  });

  it("divides by the time that really passed", () => {
    expect(sampleOf(reading(6_000, 1_500), reading(1_000, 1_000)).cpuPercent).toBe(10);
  });

  it.each([
    ["the first sample", reading(1_000, 10), null],
    ["an engine that does not count", reading(2_000, null), reading(1_000, null)],
    ["a count that began meanwhile", reading(2_000, 10), reading(1_000, null)],
    ["a count that went back", reading(2_000, 10), reading(1_000, 20)],
    ["two readings at one moment", reading(1_000, 20), reading(1_000, 10)],
  ])("knows no share of CPU time of %s", (_, now, before) => {
    expect(sampleOf(now, before).cpuPercent).toBeNull();
  });

  it("has no traffic where none is known", () => {
    const sample = sampleOf({ ...reading(1_000, 1), traffic: null }, null);
    expect(sample).toMatchObject({ networkReceivedBytes: null, networkSentBytes: null });
  });
});

describe("mergeSamples", () => {
  it("keeps the mean of the CPU, the highest memory and the last counts", () => {
    const sample = sampleOf(reading(1_000, 1), null);
    const merged = mergeSamples([
      { ...sample, cpuPercent: 10, memoryBytes: 7 },
      { ...sample, cpuPercent: null, memoryBytes: null },
      { ...sample, cpuPercent: 30, memoryBytes: 6, takenAtMs: 9, diskReadBytes: 8 },
    ]);
    expect(merged).toEqual({ ...sample, cpuPercent: 20, memoryBytes: 7, takenAtMs: 9, diskReadBytes: 8 });
    expect(mergeSamples([])).toBeNull();
    expect(mergeSamples([{ ...sample, memoryBytes: null }])).toMatchObject({ cpuPercent: null, memoryBytes: null });
  });
});
