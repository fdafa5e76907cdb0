import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { removeOwnTree, type TreeOwner } from "../../../../base/own-folder/remove-own-tree.ts";
import { groupName, parseGroupOwner, type GroupOwner } from "../../cgroups/cgroup-names.ts";
import { hasEnded } from "../../owner-process.ts";

/** How the name of a container's folder begins, by which it is found once its maker has gone; then comes chance. */
export function folderPrefix(maker: GroupOwner | null): string {
  return maker === null ? "preload-" : groupName(maker, "preload-");
}

/**
 * Removes what servers left in a folder that is ours alone and that ended without removing it; what cannot be removed is
 * left to a later sweep.
 */
export async function sweepFolders(base: string, own: GroupOwner, tree: TreeOwner): Promise<void> {
  const left = (await readdir(base)).filter((name) => {
    const maker = parseGroupOwner(name);
    return maker !== null && hasEnded(maker, own);
  });
  await Promise.allSettled(left.map((name) => removeOwnTree(join(base, name), tree)));
}
