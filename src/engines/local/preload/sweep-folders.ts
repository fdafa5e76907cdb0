import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { folderPrefix } from "./container-folder.ts";

/** Number of the process that made a container's folder; null for folders that are none. */
export function makerOf(name: string): number | null {
  const number = name.startsWith(folderPrefix) ? /^(\d+)-/.exec(name.slice(folderPrefix.length))?.[1] : undefined;
  return number === undefined ? null : Number(number);
}

/** Removes what servers left that ended without removing it; what cannot be removed is left to a later sweep. */
export async function sweepFolders(base: string, isAlive: (processId: number) => boolean): Promise<void> {
  const names = await readdir(base);
  const left = names.filter((name) => {
    const maker = makerOf(name);
    return maker !== null && !isAlive(maker);
  });
  await Promise.allSettled(left.map((name) => rm(join(base, name), { recursive: true, force: true })));
}

/** Whether there is a process of that number. */
export function processIsAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
