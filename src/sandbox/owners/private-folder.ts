import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import { assertOwnFolder, openOwnFolder, type OwnFolderRules } from "../../base/own-folder.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";

const othersMayWrite = 0o002;
/** There only a file's owner may remove or rename it. */
const sticky = 0o1000;

const what = "the folder for its leases and records";
const remedy = "set XDG_STATE_HOME to a folder of this user's, in folders that only this user and root may change";

/**
 * Makes a folder that nobody but this user and root can change or exchange, or finds it so. `uid`: this user's; null
 * where the system has no user ids, which checks nothing.
 * @throws PERMISSION_DENIED
 */
export async function makePrivateFolder(folder: string, uid: number | null): Promise<void> {
  await openOwnFolder(folder, rulesFor(uid));
  await assertPrivateWay(folder, uid);
}

/** Whether everything in the folder is this user's own work; false also when it does not exist. */
export async function isPrivateFolder(folder: string, uid: number | null): Promise<boolean> {
  try {
    await assertOwnFolder(folder, rulesFor(uid));
    await assertPrivateWay(folder, uid);
    return true;
  } catch {
    return false;
  }
}

function rulesFor(uid: number | null): OwnFolderRules {
  return { what, remedy, uid, mode: 0o700, maxMode: 0o755 };
}

/** That no other user can exchange it for another folder, by any folder above it. @throws PERMISSION_DENIED */
async function assertPrivateWay(folder: string, uid: number | null): Promise<void> {
  if (uid === null) return;
  // Both the way that its name says and the way that links make of it.
  for (const way of new Set([path.resolve(folder), await realpath(folder)])) {
    for (let place = path.dirname(way); ; place = path.dirname(place)) {
      const { uid: owner, mode } = await stat(place);
      if (owner !== uid && owner !== 0) throw exchangeable(`a folder above it belongs to user ${owner}`);
      const isOpen = (mode & othersMayWrite) !== 0 && (mode & sticky) === 0;
      if (isOpen) throw exchangeable("everybody may write to a folder above it");
      if (place === path.dirname(place)) break;
    }
  }
}

function exchangeable(problem: string): GloveboxError {
  return new GloveboxError("PERMISSION_DENIED", `Glovebox does not use ${what}: ${problem}.`, {
    suggestion: `Make the folders above it this user's or root's alone, or ${remedy}.`,
    context: { reason: "foreign_folder" },
  });
}
