import type { Stats } from "node:fs";
import { chmod, lstat, mkdir, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { errorCode, GloveboxError } from "../errors/glovebox-error.ts";

export interface OwnFolderRules {
  /** For messages: `the state folder`. Its path is not in them. */
  readonly what: string;
  /** What the operator can change about it, as in "set XDG_STATE_HOME". */
  readonly remedy: string;
  /** Our own; null where the system has no user ids, and nothing is checked then. */
  readonly uid: number | null;
  /** That it is made with. */
  readonly mode: number;
  /** What other users may do at most in one that is there, as in a mode; default: `mode`. */
  readonly maxMode?: number | undefined;
}

const othersMayWrite = 0o002;
/** There only a file's owner may remove or rename it. */
const sticky = 0o1000;

const privateWhat = "the folder for its leases and records";
const privateRemedy =
  "set XDG_STATE_HOME to a folder of this user's, in folders that only this user and root may change";

/**
 * Makes a folder that is ours alone, and gives its real path. What another user has put there, or could change, is not used.
 * @throws PERMISSION_DENIED, and Node's error when it cannot be made
 */
export async function openOwnFolder(folder: string, rules: OwnFolderRules): Promise<string> {
  const wanted = path.resolve(folder);
  const first = await makeFolders(wanted, rules.mode);
  // Whatever our umask takes away.
  if (first !== undefined) {
    for (let made = wanted; made.length >= first.length; made = path.dirname(made)) await chmod(made, rules.mode);
  }
  await assertOwnFolder(wanted, rules);
  return realpath(wanted);
}

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

/**
 * Gives the first one that was made; what is there instead of the last one stays. Not Node's own recursion, which never
 * ends where a folder that is there lets none be made in it and says ENOENT, as `/proc` and automounted homes do.
 */
async function makeFolders(folder: string, mode: number): Promise<string | undefined> {
  try {
    return await makeFolder(folder, mode);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || path.dirname(folder) === folder) throw error;
  }
  const first = await makeFolders(path.dirname(folder), mode);
  const own = await makeFolder(folder, mode);
  return first ?? own;
}

/** Nothing when it is there, or something else in its place. */
async function makeFolder(folder: string, mode: number): Promise<string | undefined> {
  try {
    await mkdir(folder, { mode });
    return folder;
  } catch (error) {
    if (await isThere(folder)) return undefined;
    throw error;
  }
}

async function isThere(folder: string): Promise<boolean> {
  return lstat(folder).then(
    () => true,
    () => false,
  );
}

/** The same for one that must be there. @throws PERMISSION_DENIED */
export async function assertOwnFolder(folder: string, rules: OwnFolderRules): Promise<void> {
  const { what, remedy, uid, mode, maxMode = mode } = rules;
  const problem = problemOf(await lstat(folder), uid, maxMode);
  if (problem === null) return;
  throw new GloveboxError("PERMISSION_DENIED", `Glovebox does not use ${what}: ${problem}.`, {
    suggestion: `Check who created it, remove it or restrict it to this user with \`chmod ${mode.toString(8)}\`, or ${remedy}.`,
    context: { reason: "foreign_folder" },
  });
}

/** Why a folder of that kind is not ours alone, in a few words; null when it is. Pure. */
export function problemOf(
  stats: Pick<Stats, "isDirectory" | "isSymbolicLink" | "uid" | "mode">,
  uid: number | null,
  maxMode: number,
): string | null {
  if (stats.isSymbolicLink()) return "it is a link";
  if (!stats.isDirectory()) return "it is not a folder";
  if (uid === null) return null;
  if (stats.uid !== uid) return `it belongs to another user (uid ${stats.uid}, not ${uid})`;
  const open = stats.mode & 0o077 & ~maxMode;
  return open === 0 ? null : `it is open to other users (mode ${(stats.mode & 0o777).toString(8)})`;
}

function rulesFor(uid: number | null): OwnFolderRules {
  return { what: privateWhat, remedy: privateRemedy, uid, mode: 0o700, maxMode: 0o755 };
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
  return new GloveboxError("PERMISSION_DENIED", `Glovebox does not use ${privateWhat}: ${problem}.`, {
    suggestion: `Make the folders above it this user's or root's alone, or ${privateRemedy}.`,
    context: { reason: "foreign_folder" },
  });
}
