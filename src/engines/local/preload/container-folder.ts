import { constants, statSync } from "node:fs";
import { chmod, chown, cp, lstat, mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import { join, posix, dirname } from "node:path";
import { removeOwnTree, type TreeOwner } from "../../../base/remove-own-tree.ts";
import type { GuardText } from "./guard-command.ts";
import { openOwnFolder } from "../../../base/own-folder.ts";

/**
 * A container's folder on the host: the guards, a folder for each scratch place, and a copy of each folder that it may
 * read.
 */
export interface ContainerFolder extends ScratchPaths {
  /** Real path. */
  readonly path: string;
  readonly guardFolder: string;
  readonly temporaryFolder: string;
  /** Opens the scratch places again, which a program may have closed to the next one. */
  reopen(): Promise<void>;
  remove(): Promise<void>;
}

interface ContainerFolderOptions {
  /** A folder that no other user can write to. */
  readonly base: string;
  readonly prefix: string;
  /** Who we are. */
  readonly owner: TreeOwner;
  readonly scratch: readonly { readonly path: string }[];
  /** Folders of the host that never change. */
  readonly copies: readonly { readonly source: string; readonly target: string }[];
  readonly guards: readonly GuardText[];
  /** User whom the scratch belongs to; null: our own. */
  readonly hostUid: number | null;
}

/** Mode of scratch: its path stands in the arguments of what runs there, so it is no secret. */
const ownersOnly = 0o700;

/** Makes the folder; whatever goes wrong, nothing is left of it. */
export async function makeContainerFolder(options: ContainerFolderOptions): Promise<ContainerFolder> {
  const { guards, hostUid, copies } = options;
  // By its real path: the guards compare real paths, and macOS's own is a link.
  const path = await realpath(await mkdtemp(join(options.base, options.prefix)));
  const remove = (): Promise<void> => removeOwnTree(path, options.owner);
  try {
    // Other users must be able to go through, and only that, where programs run as somebody else.
    if (hostUid !== null) await chmod(path, 0o711);
    const guardFolder = join(path, "guard");
    for (const { folder, name, text } of guards) {
      await mkdir(join(guardFolder, folder), { recursive: true });
      await writeFile(join(guardFolder, folder, name), text, { mode: 0o444 });
    }
    const paths = { scratch: options.scratch.map((place) => place.path), readOnly: copies.map(({ target }) => target) };
    const { places, readOnly, folderOf } = scratchPaths(paths, join(path, "scratch"), join);
    for (const place of places.values()) {
      await mkdir(place, { recursive: true });
      await chmod(place, ownersOnly);
      if (hostUid !== null) await chown(place, hostUid, hostUid);
    }
    for (const { source, target } of copies) {
      // With the modes of the source, which are read-only; on some file systems it costs no room.
      await cp(source, folderOf(target), { recursive: true, mode: constants.COPYFILE_FICLONE });
    }
    const temporaryFolder = places.get("/tmp") ?? [...places.values()][0] ?? guardFolder;
    const reopen = (): Promise<void> => openPlaces([...places.values()]);
    return { path, guardFolder, temporaryFolder, places, readOnly, folderOf, reopen, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Where a container's folders really are. */
interface ScratchPaths {
  /** Paths inside of the writable folders, each with its real one. */
  readonly places: ReadonlyMap<string, string>;
  /** The same of the folders that can be read only. */
  readonly readOnly: ReadonlyMap<string, string>;
  /** The real path of a path inside; a path in no folder of the container stays as it is. */
  readonly folderOf: (path: string) => string;
}

/** Paths inside. */
interface FolderPaths {
  readonly scratch: readonly string[];
  readonly readOnly: readonly string[];
}

/**
 * Lays the folders out below `root`, beside one another as they are inside, so that imports find packages by the rules of
 * their language; `join` is the platform's.
 */
export function scratchPaths(
  { scratch, readOnly: fixed }: FolderPaths,
  root: string,
  join: (...parts: string[]) => string,
): ScratchPaths {
  const layOut = (paths: readonly string[]): ReadonlyMap<string, string> =>
    new Map(paths.map((path) => [path, join(root, ...partsOf(path))]));
  const places = layOut(scratch);
  const readOnly = layOut(fixed);
  const folderOf = (path: string): string => {
    const normal = posix.normalize(path);
    const [innermost] = [...places, ...readOnly]
      .filter(([folder]) => normal === folder || normal.startsWith(`${folder}/`))
      .toSorted(([a], [b]) => b.length - a.length);
    if (innermost === undefined) return path;
    const [folder, place] = innermost;
    return join(place, ...partsOf(normal.slice(folder.length)));
  };
  return { places, readOnly, folderOf };
}

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

async function openPlaces(places: readonly string[]): Promise<void> {
  for (const place of places) if ((await lstat(place)).isDirectory()) await chmod(place, ownersOnly);
}

function partsOf(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "");
}
