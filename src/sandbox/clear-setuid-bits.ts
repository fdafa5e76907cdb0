import { constants, type Dirent } from "node:fs";
import { chmod, lstat, open, opendir, type FileHandle } from "node:fs/promises";
import type { OpenPlace } from "./mounts/open-place.ts";
import { clearByPath } from "./clear-by-path.ts";
import { ClearedNames, setuidBit, unlessChanged, type ClearedFiles } from "./cleared-files.ts";

/** Linux: opens a place without reading it. */
const openPathOnly = 0o10_000_000;
const asFolder = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

interface Walk {
  /** Programs can make files of this user only. */
  readonly ownerUid: number;
  readonly cleared: ClearedNames;
}

/** Systems on which no program can lead the walk elsewhere; Windows has no such bit. */
const walkedSystems: ReadonlySet<NodeJS.Platform> = new Set(["linux", "darwin", "win32"]);

/** Whether the bits can be removed from files on that system. */
export function canClearSetuidBits({ platform }: Pick<OpenPlace, "platform">): boolean {
  return walkedSystems.has(platform);
}

/**
 * Takes the setuid bit of every file below a folder that belongs to the folder's owner. On Linux every step goes from
 * one held descriptor to the next and through no link, so that whoever moves and exchanges names meanwhile leads it
 * nowhere else; on macOS no file is changed through a link.
 * @throws POLICY_DENIED for folders too deep to follow; Node's error where the bit cannot be taken
 */
export async function clearSetuidBits({
  stablePath,
  owner,
  platform,
}: Pick<OpenPlace, "stablePath" | "owner" | "platform">): Promise<ClearedFiles> {
  if (platform === "win32") return new ClearedNames().files;
  if (platform !== "linux") return clearByPath(stablePath, { ownerUid: owner.uid, platform });
  const walk: Walk = { ownerUid: owner.uid, cleared: new ClearedNames() };
  await using top = await open(`${stablePath}/.`, asFolder);
  await clearFolder(walk, top, []);
  return walk.cleared.files;
}

async function clearFolder(walk: Walk, handle: FileHandle, place: readonly string[]): Promise<void> {
  walk.cleared.assertDepth(place.length);
  const here = `/proc/self/fd/${handle.fd}`;
  // Names need not be UTF-8: one that is not must not be missed.
  await using folder = await opendir(here, { encoding: "latin1", bufferSize: 256 });
  for await (const entry of folder) {
    await unlessChanged(() => clearEntry(walk, { entry, path: Buffer.from(`${here}/${entry.name}`, "latin1"), place }));
  }
}

interface Entry {
  readonly entry: Dirent;
  readonly path: Buffer;
  /** Names of the folders above it. */
  readonly place: readonly string[];
}

async function clearEntry(walk: Walk, { entry, path, place }: Entry): Promise<void> {
  const names = [...place, entry.name];
  if (entry.isDirectory()) {
    await using handle = await openFolder(path, walk.ownerUid);
    if (handle !== null) await clearFolder(walk, handle, names);
    return;
  }
  if (!entry.isFile() || ((await lstat(path)).mode & setuidBit) === 0) return;
  await using file = await open(path, openPathOnly | constants.O_NOFOLLOW);
  const stat = await file.stat();
  if (!stat.isFile() || (stat.mode & setuidBit) === 0 || stat.uid !== walk.ownerUid) return;
  await chmod(`/proc/self/fd/${file.fd}`, stat.mode & 0o3777);
  walk.cleared.add(names);
}

/** Null for a folder that is closed to us and belongs to a user other than that of the programs. */
async function openFolder(path: Buffer, ownerUid: number): Promise<FileHandle | null> {
  try {
    return await open(path, asFolder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
  }
  // A program may close its folder to its own user and leave it open to others.
  await using handle = await open(path, openPathOnly | constants.O_NOFOLLOW);
  const stat = await handle.stat();
  if (!stat.isDirectory() || stat.uid !== ownerUid) return null;
  await chmod(`/proc/self/fd/${handle.fd}`, (stat.mode & 0o7777) | 0o500);
  return await open(`/proc/self/fd/${handle.fd}/.`, asFolder);
}
