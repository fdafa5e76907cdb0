import { readdirSync } from "node:fs";
import { readProcessStat } from "./process-stat.ts";

/** How often the threads are listed anew: one that has ended since may have left another. */
const maxLists = 50;

/**
 * What `read` finds in the folder of a process in `/proc` or, where that tells nothing because the first thread has ended,
 * in that of any other of its threads. Linux only; null when no thread tells.
 */
export function readFromThreads<T>(processId: number, read: (folder: string) => T | null): T | null {
  const first = read(`/proc/${processId}`);
  if (first !== null || readProcessStat(processId)?.firstHasEnded !== true) return first;
  for (let lists = 0; lists < maxLists; lists += 1) {
    const others = threadsOf(processId).filter((thread) => thread !== processId);
    // The newest is likeliest to live still.
    for (const thread of others.toReversed()) {
      const found = read(`/proc/${processId}/task/${thread}`);
      if (found !== null) return found;
    }
    if (others.length === 0) return null;
  }
  return null;
}

/** Numbers of the threads of a process as one look shows them; none when there is no such process. */
export function threadsOf(processId: number): readonly number[] {
  try {
    return readdirSync(`/proc/${processId}/task`).map(Number);
  } catch {
    return [];
  }
}
