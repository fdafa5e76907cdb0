import { createHash } from "node:crypto";
import path from "node:path";

/**
 * The name under which an agent's state of a folder is kept: the folder's own name as far as it can be one of a group, and a
 * hash of its whole path and of whom the run is for, so that neither two folders nor two callers share it.
 */
export function nameOfFolder(folder: string, principal: string): string {
  const own = path
    .basename(folder)
    .toLowerCase()
    .slice(0, 200)
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 40)
    .replace(/-$/, "");
  const hash = createHash("sha256").update(`${principal}\0${folder}`).digest("hex").slice(0, 16);
  return own === "" ? `folder-${hash}` : `${own}-${hash}`;
}
