import path from "node:path";
import { assertOwnFolder, openOwnFolder } from "../../base/own-folder/own-folder.ts";

const what = "the folder in which its processes reach each other";
const remedy = "set XDG_STATE_HOME to a folder of this user's with a short name";

/**
 * Makes the folder of the sockets, for this user only. Its name is known where it is not in the state folder.
 * @throws PERMISSION_DENIED when somebody else could put a socket of their own there
 */
export async function openOwnPeers(folder: string, uid: number | null): Promise<void> {
  await openOwnFolder(folder, { what, remedy, uid, mode: 0o700 });
}

/** The same for the folder of a socket; nothing when it is gone. Who made the folder can read what is sent. @throws PERMISSION_DENIED */
export async function assertOwnPeer(address: string, { uid, platform }: Peer): Promise<void> {
  if (platform === "win32") return;
  try {
    await assertOwnPeers(path.dirname(address), uid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

interface Peer {
  readonly uid: number | null;
  readonly platform: NodeJS.Platform;
}

/** The same for a folder that must be there. @throws PERMISSION_DENIED, and Node's error */
export function assertOwnPeers(folder: string, uid: number | null): Promise<void> {
  return assertOwnFolder(folder, { what, remedy, uid, mode: 0o700 });
}
