import type { CgroupVersion } from "./cgroup-places.ts";

/** Files that tell what a group has used. */
export const usageFiles: Readonly<Record<CgroupVersion, { readonly cpu: string; readonly disk: string }>> = {
  1: { cpu: "cpuacct.usage", disk: "blkio.throttle.io_service_bytes" },
  2: { cpu: "cpu.stat", disk: "io.stat" },
};

/** CPU time in milliseconds, from `cpuacct.usage` (nanoseconds) or `cpu.stat`; null when it does not say. */
export function parseCpuTimeMs(text: string): number | null {
  const microseconds = /^usage_usec (\d+)$/m.exec(text)?.[1];
  if (microseconds !== undefined) return Number(microseconds) / 1_000;
  return /^\d+\n?$/.test(text) ? Number(text) / 1_000_000 : null;
}

/** Bytes of all devices together, from `blkio.throttle.io_service_bytes` or `io.stat`. */
export function parseDiskBytes(text: string): { readonly read: number; readonly written: number } {
  return {
    read: sumOf(text, /^\S+ (?:Read |rbytes=)(\d+)/gm),
    written: sumOf(text, /^\S+ (?:Write |rbytes=\d+ wbytes=)(\d+)/gm),
  };
}

function sumOf(text: string, counts: RegExp): number {
  return [...text.matchAll(counts)].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

/** Files with a group's memory use; version 2 reports no peak before Linux 5.19. */
export const memoryFiles: Readonly<
  Record<
    CgroupVersion,
    { readonly usage: string; readonly peak: string; readonly events: string; readonly kinds: string }
  >
> = {
  1: {
    usage: "memory.usage_in_bytes",
    peak: "memory.max_usage_in_bytes",
    events: "memory.oom_control",
    kinds: "memory.stat",
  },
  2: { usage: "memory.current", peak: "memory.peak", events: "memory.events", kinds: "memory.stat" },
};

/** Processes killed for want of memory, from `memory.oom_control` or `memory.events`; null when it does not say. */
export function parseOomKills(events: string): number | null {
  const count = /^oom_kill (\d+)$/m.exec(events)?.[1];
  return count === undefined ? null : Number(count);
}

/** Bytes of memory that hold files, from `memory.stat`; null when it does not say. */
export function parseCacheBytes(kinds: string): number | null {
  const bytes = /^(?:cache|file) (\d+)$/m.exec(kinds)?.[1];
  return bytes === undefined ? null : Number(bytes);
}
