import { readdirSync, readFileSync } from "node:fs";
import { readProcessStat, threadsOf } from "../../../base/process-stat.ts";

/** Process id of the parent, or null when there is no such process. */
export function parentOf(processId: number): number | null {
  return readProcessStat(processId)?.parentId ?? null;
}

/** The only child of a process that has at most one, or null. */
export function childOf(processId: number): number | null {
  return childrenOf(processId, processId)[0] ?? null;
}

/**
 * Everything that a process has started and that still runs, as far as one look shows; processes that have ended are
 * left out.
 */
export function familyOf(processId: number): readonly number[] {
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
export function childrenOf(processId: number, thread: number): readonly number[] {
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
