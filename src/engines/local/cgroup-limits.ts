import type { ContainerLimits } from "../container-spec.ts";
import type { CgroupVersion, Controller } from "../cgroups/cgroup-places.ts";
import { socketBytes, socketLimitFile } from "../cgroups/socket-limit.ts";

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
            // Counted apart from the rest, and only once it has a limit; version 2 counts it with the rest.
            { file: socketLimitFile, value: String(socketBytes(memoryBytes)), optional: true },
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
