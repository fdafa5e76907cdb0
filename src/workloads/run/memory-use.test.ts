import { describe, expect, it } from "vitest";
import { unknownStats, type ContainerStats } from "../../engines/container-stats.ts";
import { MemoryUse } from "./memory-use.ts";

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
