import type { ContainerLimits } from "../../container-spec.ts";
import type { Controller } from "./cgroup-places.ts";

export type CgroupVersion = 1 | 2;

/** One file of a group to write. */
export interface LimitWrite {
  readonly file: string;
  readonly value: string;
  /** Whether a kernel without it (no swap accounting) still enforces the limit. */
  readonly optional?: true;
}

const periodMicroseconds = 100_000;
/** The kernel takes no less. */
const minQuotaMicroseconds = 1_000;

/** What sets one controller's limit, in this order. */
export function limitWrites(
  controller: Controller,
  version: CgroupVersion,
  { memoryBytes, pids, cpus }: ContainerLimits,
): readonly LimitWrite[] {
  const memory = String(memoryBytes);
  const quota = String(Math.max(minQuotaMicroseconds, Math.round(cpus * periodMicroseconds)));
  const period = String(periodMicroseconds);
  switch (controller) {
    case "memory":
      return version === 1
        ? [
            { file: "memory.limit_in_bytes", value: memory },
            { file: "memory.memsw.limit_in_bytes", value: memory, optional: true },
          ]
        : [
            { file: "memory.max", value: memory },
            { file: "memory.swap.max", value: "0", optional: true },
          ];
    case "pids":
      return [{ file: "pids.max", value: String(pids) }];
    case "cpu":
      return version === 1
        ? [
            { file: "cpu.cfs_period_us", value: period },
            { file: "cpu.cfs_quota_us", value: quota },
          ]
        : [{ file: "cpu.max", value: `${quota} ${period}` }];
    case "cpuacct":
    case "blkio":
      return [];
  }
}

/** Files with a group's memory use; version 2 reports no peak before Linux 5.19. */
export const memoryFiles: Readonly<
  Record<CgroupVersion, { readonly usage: string; readonly peak: string; readonly events: string }>
> = {
  1: { usage: "memory.usage_in_bytes", peak: "memory.max_usage_in_bytes", events: "memory.oom_control" },
  2: { usage: "memory.current", peak: "memory.peak", events: "memory.events" },
};

/** Processes killed for want of memory, from `memory.oom_control` or `memory.events`; null when it does not say. */
export function parseOomKills(events: string): number | null {
  const count = /^oom_kill (\d+)$/m.exec(events)?.[1];
  return count === undefined ? null : Number(count);
}
