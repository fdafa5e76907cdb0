import { readFileSync, readdirSync } from "node:fs";

/** What is read of Linux's `/proc/<pid>/stat`. */
interface ProcessStat {
  readonly processId: number;
  readonly parentId: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** When it started, in the kernel's ticks since boot. */
  readonly startTicks: string;
  /** Whether its first thread is over, as that of each process that has ended, and of some that run on with others. */
  readonly firstHasEnded: boolean;
  /** Whether none of its threads lives. It stays listed until its parent asks how it ended, which some never do. */
  readonly hasEnded: boolean;
}

/**
 * The second field, the program's name, is the program's own to choose: it may hold spaces, parentheses and line feeds.
 * Nothing behind it holds a parenthesis.
 */
export function parseProcessStat(text: string): ProcessStat {
  const after = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const firstHasEnded = after[0] === "Z";
  return {
    processId: Number.parseInt(text, 10),
    parentId: Number(after[1]),
    groupId: Number(after[2]),
    sessionId: Number(after[3]),
    startTicks: after[19] ?? "",
    firstHasEnded,
    // The first is counted until its process is gone from the list.
    hasEnded: firstHasEnded && after[17] === "1",
  };
}

/** What Linux tells of a process; null where it does not, or when there is none. */
export function readProcessStat(processId: number): ProcessStat | null {
  try {
    return parseProcessStat(readFileSync(`/proc/${processId}/stat`, "latin1"));
  } catch {
    return null;
  }
}

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
