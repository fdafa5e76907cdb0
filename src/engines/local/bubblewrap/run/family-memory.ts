import { readFileSync } from "node:fs";
import { kibibyte } from "../../../../base/bytes.ts";
import { familyOf } from "./process-family.ts";

/** Memory of a process and everything it has started, as far as the kernel reports it for each process. */
export function familyMemoryBytes(processId: number): number {
  return [processId, ...familyOf(processId)].reduce((sum, id) => sum + ownMemoryBytes(readStatus(id)), 0);
}

/**
 * What is a process's own in `/proc/N/status`: not the files that it has mapped, which it shares with others and which
 * the kernel can drop. Pages shared since a fork count for each.
 */
export function ownMemoryBytes(status: string): number {
  const counts = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count) * kibibyte, 0);
}

function readStatus(processId: number): string {
  try {
    return readFileSync(`/proc/${processId}/status`, "latin1");
  } catch {
    // It has ended meanwhile.
    return "";
  }
}
