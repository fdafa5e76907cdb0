import { readFileSync } from "node:fs";
import { kibibyte } from "../../../../base/bytes.ts";
import { readFromThreads } from "../../../../base/processes/read-from-threads.ts";
import { familyOf } from "./process-family.ts";

/** Memory of a process and everything it has started, as far as the kernel reports it for each process. */
export function familyMemoryBytes(processId: number): number {
  return [processId, ...familyOf(processId)].reduce((sum, id) => sum + (readFromThreads(id, readOwnMemory) ?? 0), 0);
}

/**
 * What is a process's own in its `status`: not the files that it has mapped, which it shares with others and which the
 * kernel can drop. Pages shared since a fork count for each. Null of a thread that has ended: all others have the memory.
 */
export function ownMemoryBytes(status: string): number | null {
  const counts = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)];
  return counts.length === 0 ? null : counts.reduce((sum, [, count]) => sum + Number(count) * kibibyte, 0);
}

function readOwnMemory(folder: string): number | null {
  try {
    return ownMemoryBytes(readFileSync(`${folder}/status`, "latin1"));
  } catch {
    // It has ended meanwhile.
    return null;
  }
}
