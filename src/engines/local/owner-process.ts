import { readFileSync, readlinkSync } from "node:fs";
import { parseProcessStat } from "../../base/process-stat.ts";
import type { GroupOwner } from "./cgroup-names.ts";

/** This process, as what it makes names it; on systems without /proc by its number alone. */
export function readOwner(processId: number): GroupOwner {
  try {
    const namespace = /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
    const { processId: own, startTicks } = parseProcessStat(readFileSync("/proc/self/stat", "utf8"));
    return { namespace, processId: own, startTicks };
  } catch {
    return { namespace: "0", processId, startTicks: "0" };
  }
}

/**
 * Whether the owner has gone; false for one of another process-id namespace than `own`, for which this cannot be told.
 */
export function hasEnded(owner: GroupOwner, own: GroupOwner): boolean {
  if (owner.namespace !== own.namespace) return false;
  try {
    if (own.startTicks === "0") return !process.kill(owner.processId, 0);
    const stat = parseProcessStat(readFileSync(`/proc/${owner.processId}/stat`, "utf8"));
    return stat.hasEnded || stat.startTicks !== owner.startTicks;
  } catch (error) {
    // If we have no right to signal it, it exists.
    return (error as NodeJS.ErrnoException).code !== "EPERM";
  }
}
