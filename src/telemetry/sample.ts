import type { ContainerStats } from "../engines/container-stats.ts";

/** What a sandbox used at one moment (SPEC ME1); null is what its engine cannot tell. */
export interface MetricsSample {
  /** Milliseconds since the epoch: when it was taken. */
  readonly takenAtMs: number;
  /** Since the sample before: 100 is one CPU, wholly used. */
  readonly cpuPercent: number | null;
  readonly memoryBytes: number | null;
  /** Of it, what holds files. */
  readonly memoryCacheBytes: number | null;
  /** In its folders in memory. */
  readonly scratchBytes: number | null;
  /** Network and disks: bytes since the start. */
  readonly networkReceivedBytes: number | null;
  readonly networkSentBytes: number | null;
  readonly diskReadBytes: number | null;
  readonly diskWriteBytes: number | null;
  readonly uptimeMs: number;
}

/** What was read of a sandbox at one moment. */
export interface Reading {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly stats: ContainerStats;
  /** Null where the sandbox's traffic is not known. */
  readonly traffic: { readonly receivedBytes: number; readonly sentBytes: number } | null;
  readonly uptimeMs: number;
}

/** The sample that a reading makes after the one before it; the first knows no share of CPU time yet. */
export function sampleOf(reading: Reading, before: Reading | null): MetricsSample {
  const { atMs, stats, traffic, uptimeMs } = reading;
  return {
    takenAtMs: atMs,
    cpuPercent: before === null ? null : cpuPercent(reading, before),
    memoryBytes: stats.memoryBytes,
    memoryCacheBytes: stats.memoryCacheBytes,
    scratchBytes: stats.scratchBytes,
    networkReceivedBytes: traffic?.receivedBytes ?? null,
    networkSentBytes: traffic?.sentBytes ?? null,
    diskReadBytes: stats.diskReadBytes,
    diskWriteBytes: stats.diskWriteBytes,
    uptimeMs,
  };
}

/** By the clock that never goes back; null as well for a count that went back, as that of a sandbox which lies may. */
function cpuPercent({ stats, uptimeMs }: Reading, before: Reading): number | null {
  const elapsedMs = uptimeMs - before.uptimeMs;
  if (stats.cpuTimeMs === null || before.stats.cpuTimeMs === null || elapsedMs <= 0) return null;
  const usedMs = stats.cpuTimeMs - before.stats.cpuTimeMs;
  return usedMs < 0 ? null : (usedMs / elapsedMs) * 100;
}

/** One sample that stands for several in a row: mean of the CPU, highest memory, the last counts. Null for none. */
export function mergeSamples(samples: readonly MetricsSample[]): MetricsSample | null {
  const last = samples.at(-1);
  if (last === undefined) return null;
  const shares = samples.flatMap(({ cpuPercent: share }) => share ?? []);
  const memory = samples.flatMap(({ memoryBytes }) => memoryBytes ?? []);
  return {
    ...last,
    cpuPercent: shares.length === 0 ? null : shares.reduce((sum, share) => sum + share, 0) / shares.length,
    memoryBytes: memory.length === 0 ? null : Math.max(...memory),
  };
}
