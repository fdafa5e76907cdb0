import path from "node:path";
import { openOwnFolder } from "../base/own-folder.ts";
import { errorCode, GloveboxError } from "../errors/glovebox-error.ts";
import type { Host } from "../config/host/host.ts";

/**
 * Creates the state folder, or checks that only this user can write to the existing one: its content decides what is
 * removed, and which processes this user's others talk to. There is no substitute for it: what a killed process leaves
 * behind is found by the next one only through the same records.
 * @throws PERMISSION_DENIED, also if it cannot be created, for example because HOME is missing or not this user's
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

/** Messages for the error codes that other users' folders and broken disks cause. */
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
