import { readdirSync, readFileSync } from "node:fs";

/** Process id of the parent, or null when there is no such process. */
export function parentOf(processId: number): number | null {
  const stat = readText(`/proc/${processId}/stat`);
  return stat === null ? null : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** The one child of a process that has one at most, or null. */
export function childOf(processId: number): number | null {
  const children = readText(`/proc/${processId}/task/${processId}/children`);
  if (children !== null) return Number.parseInt(children, 10) || null;
  // A kernel without that list (CONFIG_PROC_CHILDREN).
  const all = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return all.find((candidate) => parentOf(candidate) === processId) ?? null;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
