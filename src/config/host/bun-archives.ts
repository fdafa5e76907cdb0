import path from "node:path";
import type { Host } from "./host.ts";

/** Folder of archives of Bun that were imported, for machines without a network. */
export function bunArchives({ stateDirectory }: Pick<Host, "stateDirectory">): string {
  return path.join(stateDirectory, "bun-archives");
}
