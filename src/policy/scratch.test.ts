import { describe, expect, it } from "vitest";
import { divideScratch, watchedScratch } from "./scratch.ts";

const MiB = 1024 * 1024;

describe("divideScratch", () => {
  it("gives half the memory at most when scratch is memory, and says so if more was requested", () => {
    const limits = { diskBytes: 1024 * MiB, memoryBytes: 512 * MiB, isDiskRequested: true } as const;
    expect(divideScratch(limits, "memory")).toEqual({
      places: [
        { path: "/work", sizeBytes: 160 * MiB },
        { path: "/tmp", sizeBytes: 64 * MiB },
      ],
      sharedMemoryBytes: 32 * MiB,
      difference: expect.stringContaining("half the memory"),
      note: "scratch: memory-backed, 256 MiB (half the memory limit) instead of 1 GiB on disk",
    });
  });

  it("gives the disk limit when half the memory holds it", () => {
    const limits = { diskBytes: 64 * MiB, memoryBytes: 512 * MiB, isDiskRequested: true } as const;
    expect(divideScratch(limits, "memory")).toEqual({
      places: [
        { path: "/work", sizeBytes: 40 * MiB },
        { path: "/tmp", sizeBytes: 16 * MiB },
      ],
      sharedMemoryBytes: 8 * MiB,
      difference: null,
      note: null,
    });
  });

  it.each([
    [10_240, 8192],
    [1024, 512],
    [1024, 17],
    [1, 16],
    [1, 8192],
    [333, 777],
  ])("shares out %d MB of disk with %d MB of memory so that the sum is exact and nothing is empty", (disk, memory) => {
    const division = divideScratch({ diskBytes: disk * MiB, memoryBytes: memory * MiB }, "memory");
    const sizes = [...division.places.map((place) => place.sizeBytes), division.sharedMemoryBytes];
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(Math.min(disk * MiB, (memory * MiB) / 2));
    expect(Math.min(...sizes)).toBeGreaterThan(0);
    expect(sizes.every((size) => size % 4096 === 0)).toBe(true);
    expect(division.sharedMemoryBytes).toBeLessThanOrEqual(64 * MiB);
  });

  it("gives all of the disk limit on disk, with shared memory from the memory limit", () => {
    expect(divideScratch({ diskBytes: 1024 * MiB, memoryBytes: 512 * MiB }, "disk")).toEqual({
      places: [
        { path: "/work", sizeBytes: 768 * MiB },
        { path: "/tmp", sizeBytes: 256 * MiB },
      ],
      sharedMemoryBytes: 64 * MiB,
      difference: null,
      note: null,
    });
  });

  it.each([
    [1024, "disk"],
    [256, "memory"],
  ] as const)("goes to disk where memory has no room for it, and not before: %d MB", (disk, storage) => {
    const limits = { diskBytes: disk * MiB, memoryBytes: 512 * MiB };
    expect(divideScratch(limits, "memoryOrDisk")).toEqual(divideScratch(limits, storage));
  });

  it("says when the engine cannot size scratch that was requested", () => {
    const limits = { diskBytes: 1024 * MiB, memoryBytes: 512 * MiB, isDiskRequested: true } as const;
    expect(divideScratch(limits, "none").note).toBe("scratch: on disk without a size limit, 1 GiB is not enforced");
  });

  it("says nothing of a default, wherever scratch is", () => {
    const limits = { diskBytes: 1024 * MiB, memoryBytes: 512 * MiB };
    for (const storage of ["disk", "memory", "memoryOrDisk", "none"] as const)
      expect(divideScratch(limits, storage).note).toBeNull();
    expect(watchedScratch(limits).note).toBeNull();
    expect(watchedScratch({ ...limits, isDiskRequested: true }).note).toContain("scratch: on disk, 1 GiB");
  });
});
