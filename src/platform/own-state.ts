import { openOwnFolder } from "../base/own-folder/own-folder.ts";
import type { Host } from "../config/host/host.ts";

/**
 * Makes the state folder, or looks whether the one there is this user's alone to write to: what stands in it decides what
 * is removed, and whom other processes of this user talk to.
 * @throws PERMISSION_DENIED
 */
export async function openOwnState({ stateDirectory, uid }: Pick<Host, "stateDirectory" | "uid">): Promise<void> {
  const remedy = "set XDG_STATE_HOME to a folder of this user's";
  // Podman's service may read a profile below it, as another user.
  await openOwnFolder(stateDirectory, { what: "the state folder", remedy, uid, mode: 0o700, maxMode: 0o755 });
}
