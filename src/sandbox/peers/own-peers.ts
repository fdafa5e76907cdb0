import path from "node:path";
import { assertOwnFolder, openOwnFolder } from "../../base/own-folder/own-folder.ts";

const what = "the folder for the doors of its processes";
const remedy = "set XDG_STATE_HOME to a folder of this user's with a short name";

/**
 * Makes the folder of the doors, for this user only. Its name is known where it is not in the state folder.
 * @throws PERMISSION_DENIED when somebody else could put a door of their own there
 */
export async function openOwnDoors(folder: string, uid: number | null): Promise<void> {
  await openOwnFolder(folder, { what, remedy, uid, mode: 0o700 });
}

/** The same for the folder of a door; nothing when it is gone. Whoever made it hears what comes in. @throws PERMISSION_DENIED */
export async function assertOwnDoor(address: string, { uid, platform }: Visitor): Promise<void> {
  if (platform === "win32") return;
  try {
    await assertOwnDoors(path.dirname(address), uid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

interface Visitor {
  readonly uid: number | null;
  readonly platform: NodeJS.Platform;
}

/** The same for a folder that must be there. @throws PERMISSION_DENIED, and Node's error */
export function assertOwnDoors(folder: string, uid: number | null): Promise<void> {
  return assertOwnFolder(folder, { what, remedy, uid, mode: 0o700 });
}
