import { readFile, stat } from "node:fs/promises";
import { parseMountTable } from "../../base/mount-table.ts";

export interface RootOf {
  readonly id: string;
  /** Number of its first process, on the machine of the engine, which may be another. */
  readonly processId: number;
}

/**
 * The folder of this machine that holds what a container's programs have written to its root: the upper layer of an overlay.
 * Null where there is none, or it is not ours to look at.
 */
export async function writtenFolder({ id, processId }: RootOf): Promise<string | null> {
  const table = parseMountTable(await readFile(`/proc/${processId}/mountinfo`, "latin1").catch(() => ""));
  // As for mounts that are verified: a process without the container's id is another machine's.
  if (!table.some(({ root }) => root.split("/").includes(id))) return null;
  const options = table.findLast(({ mountPoint }) => mountPoint === "/")?.options.split(",") ?? [];
  const folder = options.find((option) => option.startsWith("upperdir=/"))?.slice("upperdir=".length);
  if (folder === undefined) return null;
  const found = await stat(folder).catch(() => null);
  return found?.isDirectory() === true ? folder : null;
}
