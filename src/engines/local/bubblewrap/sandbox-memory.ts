import { readdirSync, readFileSync } from "node:fs";
import { readProcessStat, threadsOf, readFromThreads } from "../../../base/process-stat.ts";
import { unknownStats, type ContainerStats } from "../../container-stats.ts";
import { kibibyte } from "../../../base/bytes.ts";

/** Process id of the parent, or null when there is no such process. */
export function parentOf(processId: number): number | null {
  return readProcessStat(processId)?.parentId ?? null;
}

/** The only child of a process that has at most one, or null. */
export function childOf(processId: number): number | null {
  return childrenOf(processId, processId)[0] ?? null;
}

/**
 * What is a process's own in its `status`: not the files that it has mapped, which it shares with others and which the
 * kernel can drop. Pages shared since a fork count for each. Null of a thread that has ended: all others have the memory.
 */
export function ownMemoryBytes(status: string): number | null {
  const counts = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)];
  return counts.length === 0 ? null : counts.reduce((sum, [, count]) => sum + Number(count) * kibibyte, 0);
}

interface SandboxMemoryOptions {
  /** For all programs of the sandbox together. */
  readonly limitBytes: number;
  /** The supervisor as the host numbers it; null: there is none. */
  readonly firstProcess: () => number | null;
  /** Ends the program that uses most, with all that it started. */
  readonly endLargest: () => Promise<void>;
}

/** Doing it more often finds no more. */
const intervalMs = 50;
/** After so many looks without a program it waits for the next one. */
const maxIdleLooks = 40;

/**
 * Replaces a memory limit of the kernel: looks at the memory of a sandbox's programs and, when together they use more,
 * ends the largest with everything it started. What is used only between two looks is not seen.
 */
export class SandboxMemory {
  readonly #options: SandboxMemoryOptions;
  #peakBytes = 0;
  #kills = 0;
  #idleLooks = 0;
  #isEnding = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SandboxMemoryOptions) {
    this.#options = options;
  }

  /** To be called before a program begins; it stops by itself when none is left. */
  start(): void {
    this.#idleLooks = 0;
    this.#timer ??= setInterval(() => this.#look(), intervalMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Looks now. */
  stats(): ContainerStats {
    const memoryBytes = this.#measure() ?? 0;
    return { ...unknownStats, memoryBytes, memoryPeakBytes: this.#peakBytes, oomKills: this.#kills };
  }

  #look(): void {
    const bytes = this.#measure();
    this.#idleLooks = bytes === null ? this.#idleLooks + 1 : 0;
    if (this.#idleLooks > maxIdleLooks) this.stop();
    if ((bytes ?? 0) > this.#options.limitBytes) void this.#end();
  }

  /** Null when no program runs. Wardens and helpers, which are the supervisor's children, do not count. */
  #measure(): number | null {
    const first = this.#options.firstProcess();
    const programs = first === null ? [] : childrenOf(first, first).flatMap((warden) => childrenOf(warden, warden));
    if (programs.length === 0) return null;
    const bytes = programs.reduce((sum, program) => sum + familyMemoryBytes(program), 0);
    this.#peakBytes = Math.max(this.#peakBytes, bytes);
    return bytes;
  }

  async #end(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#kills++;
    try {
      await this.#options.endLargest();
    } catch {
      // Its sandbox has ended meanwhile.
    } finally {
      this.#isEnding = false;
    }
  }
}

/**
 * Everything that a process has started and that still runs, as far as one look shows; processes that have ended are
 * left out.
 */
function familyOf(processId: number): readonly number[] {
  const family: number[] = [];
  const parents = [processId];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    for (const thread of threadsOf(parent)) {
      const alive = childrenOf(parent, thread).filter((child) => !hasEnded(child));
      family.push(...alive);
      parents.push(...alive);
    }
  }
  return family;
}

/** What a thread of a process has started and has not yet taken leave of. */
function childrenOf(processId: number, thread: number): readonly number[] {
  const children = readText(`/proc/${processId}/task/${thread}/children`);
  if (children !== null) return children.split(" ").filter(Boolean).map(Number);
  // A kernel without that list (CONFIG_PROC_CHILDREN), or a thread that has ended.
  if (thread !== processId) return [];
  const all = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return all.filter((candidate) => parentOf(candidate) === processId);
}

function hasEnded(processId: number): boolean {
  return readProcessStat(processId)?.hasEnded ?? true;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** Memory of a process and everything it has started, as far as the kernel reports it for each process. */
function familyMemoryBytes(processId: number): number {
  return [processId, ...familyOf(processId)].reduce((sum, id) => sum + (readFromThreads(id, readOwnMemory) ?? 0), 0);
}

function readOwnMemory(folder: string): number | null {
  try {
    return ownMemoryBytes(readFileSync(`${folder}/status`, "latin1"));
  } catch {
    // It has ended meanwhile.
    return null;
  }
}
