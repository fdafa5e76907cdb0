import path from "node:path";
import { lstatSync, mkdirSync, readdirSync, realpathSync, rmSync, type Stats } from "node:fs";
import { enableCompileCache } from "node:module";
import { readHost, type Host } from "./host.ts";
import { readPackageVersion } from "./own-package.ts";

type Owner = Pick<Host, "stateDirectory" | "uid">;

/** How many other versions of Glovebox keep their compiled code here. */
const maxOthers = 1;

/**
 * Has V8 cache what it compiles in a folder of this user, so that later starts read it instead of compiling again.
 * Anyone who can write there runs code as this user: if others could write to the folder or replace it, nothing is
 * cached.
 */
export function keepCompiledCode(): void {
  try {
    const folder = openCompileFolder(readHost(), readPackageVersion());
    if (folder !== null) enableCompileCache(folder);
  } catch {
    // An unwritable home folder or a full disk only makes starts slower.
  }
}

/** Makes the folder, for this user alone; null when it is not safe to use. @throws Node's error when it cannot be made */
export function openCompileFolder({ stateDirectory, uid }: Owner, version: string): string | null {
  const state = path.resolve(stateDirectory);
  // Before anything is created: nothing of ours belongs in another user's folder.
  if (!isOurs(nearest(state), uid)) return null;
  const folders = path.join(state, "compiled");
  const folder = path.join(folders, version);
  // Not recursive: Node's recursion never ends if the folder above answers ENOENT to it, as `/proc` and automounted
  // homes do.
  const missing = firstMissing(folder);
  if (missing !== null) mkdirSync(missing, { mode: 0o700 });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const real = realpathSync(folder);
  if (!isOurs(real, uid) || [folder, folders].some((each) => isOpen(lstatSync(each), uid))) return null;
  if (missing !== null) forgetOthers(folders, version);
  return real;
}

/** The topmost folder on the path that does not exist; null if all do. */
function firstMissing(folder: string): string | null {
  let missing: string | null = null;
  for (let place = folder; lstatSync(place, { throwIfNoEntry: false }) === undefined; place = path.dirname(place)) {
    missing = place;
  }
  return missing;
}

/** The real path of the folder itself or of its nearest parent that exists. */
function nearest(folder: string): string {
  for (let place = folder; ; place = path.dirname(place)) {
    if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) return realpathSync(place);
  }
}

/**
 * Whether a folder and all above it belong to this user or to root, and no other user can change any of them; in a
 * sticky folder, where only owners may replace entries, ours are safe. `place` is a real path.
 */
function isOurs(place: string, uid: number | null): boolean {
  if (uid === null) return true;
  for (let folder = place; ; folder = path.dirname(folder)) {
    const { uid: owner, mode } = lstatSync(folder);
    const isExchangeable = (mode & 0o022) !== 0 && (folder === place || (mode & 0o1000) === 0);
    if ((owner !== uid && owner !== 0) || isExchangeable) return false;
    if (folder === path.dirname(folder)) return true;
  }
}

/** Whether it is a link, another user's, or open to others in any way. */
function isOpen(stats: Stats, uid: number | null): boolean {
  return !stats.isDirectory() || (uid !== null && (stats.uid !== uid || (stats.mode & 0o077) !== 0));
}

/** Each version leaves some megabytes; the newest ones are kept. */
function forgetOthers(folders: string, version: string): void {
  const others = readdirSync(folders).filter((name) => name !== version);
  const byAge = others
    .map((name) => ({ name, madeMs: lstatSync(path.join(folders, name)).mtimeMs }))
    .toSorted((one, other) => other.madeMs - one.madeMs);
  for (const { name } of byAge.slice(maxOthers)) rmSync(path.join(folders, name), { recursive: true, force: true });
}
