import { statSync } from "node:fs";
import { dirname } from "node:path";
import { openOwnFolder } from "../../../base/own-folder.ts";

/** Folders in which those of containers stand; made when they are missing; no other user can write to them. */
export interface PreloadFolders {
  /** For programs that run as the same user as we do. */
  readonly own: string;
  /** For programs that root gives a user of their own: every folder above it lets other users through. */
  readonly passable: string;
}

const remedy = "set XDG_STATE_HOME to a folder of this user's";

/** @throws PERMISSION_DENIED when somebody else has made it, and Node's error */
export function openOwnBase(folder: string, uid: number | null): Promise<string> {
  return openOwnFolder(folder, { what: "its folder for programs at level preload", remedy, uid, mode: 0o700 });
}

/** The same for programs of other users, who may go through and not look; null where there can be none. */
export async function openPassableBase(folder: string): Promise<string | null> {
  const rules = { what: "root's folder for programs at level preload", remedy: "start it as another user", uid: 0 };
  try {
    const base = await openOwnFolder(folder, { ...rules, mode: 0o711 });
    return isOpenToOthers(base) ? base : null;
  } catch (error) {
    if (["EROFS", "EACCES", "EPERM"].includes(String((error as NodeJS.ErrnoException).code))) return null;
    throw error;
  }
}

/** Whether any user can get there through its parents. */
export function isOpenToOthers(path: string): boolean {
  for (let place = path; ; place = dirname(place)) {
    if ((statSync(place).mode & 0o001) === 0) return false;
    if (place === dirname(place)) return true;
  }
}
