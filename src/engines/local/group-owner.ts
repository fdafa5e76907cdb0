import { readFileSync, readlinkSync } from "node:fs";
import { parseProcessStat } from "../../base/process-stat.ts";

/** Who made a group: identifies a process even if its pid is reused. */
export interface GroupOwner {
  /** The process-id namespace, because another container's numbers mean other processes. */
  readonly namespace: string;
  readonly processId: number;
  /** When it started, in the kernel's ticks since boot. */
  readonly startTicks: string;
}

/** Folder, under the place where groups may be made, that holds all of ours. */
export const groupsFolder = "glovebox";

/** Name of a container's group. */
export function groupName({ namespace, processId, startTicks }: GroupOwner, container: string): string {
  return [namespace, processId, startTicks, container].join(".");
}

/** Owner of a group by its name; null when the name is not of ours. */
export function parseGroupOwner(name: string): GroupOwner | null {
  const [, namespace, processId, startTicks] = /^(\d+)\.(\d+)\.(\d+)\../.exec(name) ?? [];
  if (namespace === undefined || processId === undefined || startTicks === undefined) return null;
  return { namespace, processId: Number(processId), startTicks };
}

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
