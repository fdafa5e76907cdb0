import { readdirSync, readFileSync } from "node:fs";

/** Process id of the parent, or null when there is no such process. */
export function parentOf(processId: number): number | null {
  const stat = readText(`/proc/${processId}/stat`);
  return stat === null ? null : Number(fieldsAfterName(stat)[1]);
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

/** The number of a process in the innermost of its process-id namespaces; null when it has ended. */
export function innerNumberOf(processId: number): number | null {
  const numbers = /^NSpid:\s+(.*)$/m.exec(readText(`/proc/${processId}/status`) ?? "")?.[1];
  const innermost = numbers?.split(/\s+/).at(-1);
  return innermost === undefined ? null : Number(innermost);
}

function threadsOf(processId: number): readonly number[] {
  try {
    return readdirSync(`/proc/${processId}/task`).map(Number);
  } catch {
    return [];
  }
}

function childrenOf(processId: number, thread: number): readonly number[] {
  const children = readText(`/proc/${processId}/task/${thread}/children`);
  if (children !== null) return children.split(" ").filter(Boolean).map(Number);
  // A kernel without that list (CONFIG_PROC_CHILDREN), or a thread that has ended.
  if (thread !== processId) return [];
  const all = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return all.filter((candidate) => parentOf(candidate) === processId);
}

function hasEnded(processId: number): boolean {
  const stat = readText(`/proc/${processId}/stat`);
  return stat === null || /^[ZX]$/.test(fieldsAfterName(stat)[0] ?? "");
}

/** A name may hold anything, brackets and spaces too. */
function fieldsAfterName(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
