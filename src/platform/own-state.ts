import { openOwnFolder } from "../base/own-folder/own-folder.ts";
import { errorCode } from "../errors/error-code.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Host } from "../config/host/host.ts";

/**
 * Makes the state folder, or looks whether the one there is this user's alone to write to: what stands in it decides what
 * is removed, and whom other processes of this user talk to.
 * @throws PERMISSION_DENIED, also when it cannot be made, as where HOME is missing or not this user's
 */
export async function openOwnState({ stateDirectory, uid }: Pick<Host, "stateDirectory" | "uid">): Promise<void> {
  const remedy = "set XDG_STATE_HOME to a folder of this user's";
  // Podman's service may read a profile below it, as another user.
  const rules = { what: "the state folder", remedy, uid, mode: 0o700, maxMode: 0o755 };
  await openOwnFolder(stateDirectory, rules).catch((error: unknown) => {
    throw error instanceof GloveboxError ? error : notMade(error);
  });
}

function notMade(cause: unknown): GloveboxError {
  const message = `The state folder, which keeps records of sandboxes, cannot be made in the home folder or XDG_STATE_HOME (${errorCode(cause)}).`;
  return new GloveboxError("PERMISSION_DENIED", message, {
    suggestion: "Set XDG_STATE_HOME to a folder that this user can write to.",
    context: { reason: "no_state_folder" },
    cause,
  });
}
