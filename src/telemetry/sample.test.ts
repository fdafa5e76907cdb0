import { describe, expect, it } from "vitest";
import { unknownStats } from "../engines/container-stats.ts";
import { mergeSamples, sampleOf, type Reading } from "./sample.ts";

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
