import { readdirSync, readFileSync } from "node:fs";
import type { Supervised } from "./supervised.ts";

/** Processes whose parent is this one, as the host numbers them. */
export function childrenOf(pid: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => parentOf(each) === pid);
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]);
  } catch {
    return undefined;
  }
}

/** The supervisor as the host numbers it: the one child of bubblewrap. */
export function firstProcess(subject: Supervised): number {
  const [first] = childrenOf(subject.process.pid ?? 0);
  if (first === undefined) throw new Error("bubblewrap has no child");
  return first;
}

/** Open descriptors of a process. */
export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Resident memory of a process, in kilobytes. */
export function residentKbOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}
