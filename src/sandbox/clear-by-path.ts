import { constants, type Dirent } from "node:fs";
import { chmod, lstat, open, opendir } from "node:fs/promises";
import { ClearedNames, setuidBit, unlessChanged, type ClearedFiles } from "./cleared-files.ts";

/** macOS: refuses links anywhere in a path. */
const noFollowAny = 0x2000_0000;

interface Walk {
  /** Programs can make files of this user only. */
  readonly ownerUid: number;
  readonly platform: NodeJS.Platform;
  readonly cleared: ClearedNames;
}

/**
 * `clearSetuidBits` on systems whose open folders have no path of their own. Folders are listed by their names, which may lead
 * elsewhere by then; what is changed is opened by its whole path, in which macOS follows no link, and changed as it is open.
 */
export async function clearByPath(
  folder: string,
  { ownerUid, platform }: Pick<Walk, "ownerUid" | "platform">,
): Promise<ClearedFiles> {
  const walk: Walk = { ownerUid, platform, cleared: new ClearedNames() };
  await clearFolder(walk, Buffer.from(folder), []);
  return walk.cleared.files;
}

async function clearFolder(walk: Walk, place: Buffer, names: readonly string[]): Promise<void> {
  walk.cleared.assertDepth(names.length);
  await using folder = await opendir(place, { encoding: "latin1", bufferSize: 256 });
  for await (const entry of folder) {
    const path = Buffer.concat([place, Buffer.from("/"), Buffer.from(entry.name, "latin1")]);
    await unlessChanged(() => clearEntry(walk, { entry, path, names: [...names, entry.name] }));
  }
}

interface Entry {
  readonly entry: Dirent;
  readonly path: Buffer;
  readonly names: readonly string[];
}

async function clearEntry(walk: Walk, { entry, path, names }: Entry): Promise<void> {
  const { mode, uid } = await lstat(path);
  if (entry.isDirectory()) {
    // A program may close its folder to its own user and leave it open to others. Nothing but that user's reading is allowed here.
    if (uid === walk.ownerUid && (mode & 0o500) !== 0o500) await chmod(path, (mode & 0o7777) | 0o500);
    return clearFolder(walk, path, names);
  }
  if (!entry.isFile() || (mode & setuidBit) === 0) return;
  const noLinks = walk.platform === "darwin" ? noFollowAny : (constants.O_NOFOLLOW ?? 0);
  await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | noLinks);
  const stat = await file.stat();
  if (!stat.isFile() || (stat.mode & setuidBit) === 0 || stat.uid !== walk.ownerUid) return;
  await file.chmod(stat.mode & 0o3777);
  walk.cleared.add(names);
}
