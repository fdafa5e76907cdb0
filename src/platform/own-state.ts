import path from "node:path";
import { openOwnFolder } from "../base/own-folder/own-folder.ts";
import { errorCode } from "../errors/error-code.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Host } from "../config/host/host.ts";

/**
 * Makes the state folder, or looks whether the one there is this user's alone to write to: what stands in it decides what
 * is removed, and whom other processes of this user talk to. No other folder stands in for it: what a process leaves when
 * it is killed is found by the next one only through the same records.
 * @throws PERMISSION_DENIED, also when it cannot be made, as where HOME is missing or not this user's
 */
export async function openOwnState(host: Pick<Host, "stateDirectory" | "uid" | "environment">): Promise<void> {
  const { stateDirectory, uid } = host;
  const remedy = "set XDG_STATE_HOME to a folder of this user's";
  // Podman's service may read a profile below it, as another user.
  const rules = { what: "the state folder", remedy, uid, mode: 0o700, maxMode: 0o755 };
  await openOwnFolder(stateDirectory, rules).catch((error: unknown) => {
    throw error instanceof GloveboxError ? error : notMade(host, error);
  });
}

function notMade({ environment }: Pick<Host, "environment">, cause: unknown): GloveboxError {
  const isNamed = path.isAbsolute(environment["XDG_STATE_HOME"] ?? "");
  const place = isNamed ? "the folder that XDG_STATE_HOME names" : "the home folder (HOME)";
  const message = `The state folder, which keeps records of sandboxes, cannot be made in ${place}: ${reasonOf(cause)}.`;
  return new GloveboxError("PERMISSION_DENIED", message, {
    suggestion: `Set ${isNamed ? "it" : "HOME, or XDG_STATE_HOME for this folder alone,"} to a folder that this user can write to.`,
    context: { reason: "no_state_folder" },
    cause,
  });
}

/** In words, for the codes that folders of other users and broken disks bring about. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  ENOENT: "it does not exist",
  ENOTDIR: "it is not a folder",
  EROFS: "its disk is read-only",
  ENOSPC: "its disk is full",
  EDQUOT: "the user's share of its disk is used up",
};

function reasonOf(cause: unknown): string {
  const code = errorCode(cause);
  return reasons[code] ?? (code === "" ? "unknown error" : code);
}
