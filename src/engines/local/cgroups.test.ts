import { describe, expect, it } from "vitest";
import { limitWrites } from "./cgroups.ts";

const limits = { cpus: 1.5, memoryBytes: 1024, pids: 20 };

describe("limitWrites", () => {
  it("limits memory, then memory and swap together, in version 1: the kernel wants that order", () => {
    expect(limitWrites("memory", 1, limits)).toEqual([
      { file: "memory.limit_in_bytes", value: "1024" },
      { file: "memory.memsw.limit_in_bytes", value: "1024", optional: true },
      { file: "memory.kmem.tcp.limit_in_bytes", value: "256", optional: true },
    ]);
  });

  it("limits memory and takes swap away in version 2", () => {
    expect(limitWrites("memory", 2, limits)).toEqual([
      { file: "memory.max", value: "1024" },
      { file: "memory.swap.max", value: "0", optional: true },
    ]);
  });

  it("limits processes", () => {
    expect(limitWrites("pids", 1, limits)).toEqual([{ file: "pids.max", value: "20" }]);
    expect(limitWrites("pids", 2, limits)).toEqual([{ file: "pids.max", value: "20" }]);
  });

  it("gives CPU time as a share of a tenth of a second", () => {
    expect(limitWrites("cpu", 1, limits)).toEqual([
      { file: "cpu.cfs_period_us", value: "100000" },
      { file: "cpu.cfs_quota_us", value: "150000" },
    ]);
    expect(limitWrites("cpu", 2, limits)).toEqual([{ file: "cpu.max", value: "150000 100000" }]);
  });

  it("never asks for less CPU time than the kernel takes", () => {
    expect(limitWrites("cpu", 2, { ...limits, cpus: 0.001 })).toEqual([{ file: "cpu.max", value: "1000 100000" }]);
  });
});
