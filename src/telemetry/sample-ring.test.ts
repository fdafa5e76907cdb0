import { describe, expect, it } from "vitest";
import { SampleRing, type MetricsSample } from "./sampler.ts";

function sample(second: number): MetricsSample {
  return {
    takenAtMs: second * 1_000,
    cpuPercent: second % 2 === 0 ? 0 : 100,
    memoryBytes: second,
    networkReceivedBytes: null,
    networkSentBytes: null,
    diskReadBytes: null,
    diskWriteBytes: null,
    memoryCacheBytes: null,
    scratchBytes: null,
    uptimeMs: second * 1_000,
  };
}

function filled(seconds: number): SampleRing {
  const ring = new SampleRing();
  for (let second = 1; second <= seconds; second++) ring.push(sample(second));
  return ring;
}

describe("SampleRing", () => {
  it("gives the newest, oldest first", () => {
    expect(
      filled(5)
        .newest(2)
        .map(({ takenAtMs }) => takenAtMs),
    ).toEqual([4_000, 5_000]);
    expect(filled(5).newest(10, 4_000)).toHaveLength(2);
    expect(filled(5).last?.takenAtMs).toBe(5_000);
    expect(new SampleRing().last).toBeUndefined();
  });

  it("keeps ten minutes of seconds and merges what is older, ten to one", () => {
    const all = filled(620).newest(Number.POSITIVE_INFINITY);
    expect(all).toHaveLength(602);
    expect(all[0]).toMatchObject({ takenAtMs: 10_000, cpuPercent: 50, memoryBytes: 10 });
    expect(all[1]).toMatchObject({ takenAtMs: 20_000, cpuPercent: 50 });
    expect(all[2]).toMatchObject({ takenAtMs: 21_000, cpuPercent: 100 });
  });

  it("never grows beyond an hour and ten minutes", () => {
    const all = filled(100_000).newest(Number.POSITIVE_INFINITY);
    expect(all.length).toBeLessThanOrEqual(609 + 360);
    expect(all[0]?.takenAtMs).toBeGreaterThan((100_000 - 4_300) * 1_000);
  });
});
