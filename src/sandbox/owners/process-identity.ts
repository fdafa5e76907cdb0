import { readFileSync, readlinkSync } from "node:fs";
import { readProcessStat } from "../../base/process-stat.ts";

/** Identifies a process even if its pid is reused, and on this machine alone. */
export interface ProcessIdentity {
  /** This boot of this machine and, on Linux, the process-id namespace; where the system tells neither, its host name. */
  readonly machine: string;
  readonly pid: number;
  /** When it started, in the kernel's ticks since boot; null where the system does not tell. */
  readonly startTicks: string | null;
}

/** Identity of a process of this machine, such as one's own. */
export function identityOf(pid: number, hostName: string): ProcessIdentity {
  return { machine: thisMachine(hostName), pid, startTicks: readProcessStat(pid)?.startTicks ?? null };
}

/** Whether that very process still runs; null when it is another machine's than `own`, so that only time can tell. */
export function isAlive(identity: ProcessIdentity, own: ProcessIdentity): boolean | null {
  if (identity.machine !== own.machine) return null;
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    // If we have no right to signal it, it exists.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const stat = readProcessStat(identity.pid);
  return stat === null ? identity.startTicks === null : !stat.hasEnded && stat.startTicks === identity.startTicks;
}

/** Whether both are of the same boot of the same machine, so that one clock counts for both; false where nothing tells. */
export function isSameBoot(one: ProcessIdentity, other: ProcessIdentity): boolean {
  const [boot, namespace] = one.machine.split("/");
  return namespace !== undefined && other.machine.split("/")[0] === boot;
}

function thisMachine(hostName: string): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot}/${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostName;
  }
}
