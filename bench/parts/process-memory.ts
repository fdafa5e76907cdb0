import { readFileSync } from "node:fs";

/** Resident memory of a process in MB (MiB): now, or its peak. */
export function memoryMb(pid: number | undefined, which: "VmRSS" | "VmHWM" = "VmRSS"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${which}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}
