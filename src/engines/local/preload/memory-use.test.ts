import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { memoryIntervalMs, parseStatus, readMemory } from "./memory-use.ts";

describe("the memory of a program", () => {
  it("is looked at often where that is cheap, and not at all where it cannot be", () => {
    expect((["linux", "darwin", "win32"] as const).map(memoryIntervalMs)).toEqual([50, 500, null]);
  });

  it("is read from what Linux tells of a process", () => {
    expect(parseStatus("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n")).toEqual({
      bytes: 1_048_576,
      peakBytes: 2_097_152,
    });
    expect(parseStatus("Name:\tx\nState:\tZ (zombie)\n")).toBeNull();
  });

  /** The way of Linux, and the one by `ps`. */
  const ways = (["linux", "darwin"] as const).filter((way) => existsSync(way === "linux" ? "/proc/self" : "/bin/ps"));
  it.each(ways)("of this process is found as on %s, and none of one that is not there", async (way) => {
    expect((await readMemory(process.pid, way))?.bytes).toBeGreaterThan(1_000_000);
    expect(await readMemory(2 ** 22 + 1, way)).toBeNull();
  });
});
