import { constants } from "node:fs";
import { chmod, lstat, open, readdir, rename, rm, rmdir, unlink, type FileHandle } from "node:fs/promises";
import { createId } from "./id.ts";

export interface TreeOwner {
  /** Whose the folder must be; null: whose it is does not matter. Below it anything may belong to anybody. */
  readonly uid: number | null;
  readonly platform: NodeJS.Platform;
}

/** Each takes what programs that still run add meanwhile. */
const maxPasses = 5;

/**
 * Removes a folder and all below it, and nothing else, whatever programs that can write there do meanwhile: no link is
 * followed, and folders are as deep as they like. On Linux each folder is held open and emptied through what is held;
 * elsewhere it is looked at first. Resolves when it is gone already.
 * @throws Node's error; EPERM when it is a link or somebody else's
 */
export async function removeOwnTree(folder: string, owner: TreeOwner): Promise<void> {
  try {
    const stats = await lstat(folder);
    if (!stats.isDirectory() || !isOwners(stats.uid, owner)) throw notOurs(folder);
    if (owner.platform !== "linux") {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      return;
    }
    await using held = await hold(folder);
    if (!isOwners((await held.stat()).uid, owner)) throw notOurs(folder);
    await empty(held);
    await rmdir(folder);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** Folders of folders are moved up and then emptied like the rest, so that two at a time are open and no path is long. */
async function empty(top: FileHandle): Promise<void> {
  // What a program could not have taken already.
  const prefix = createId("moved");
  let moved = 0;
  let names: readonly Buffer[] = [];
  for (let pass = 0; pass < maxPasses;) {
    names = await namesIn(top);
    if (names.length === 0) return;
    const before = moved;
    for (const name of names) {
      if (await unlinked(within(top, name))) continue;
      await using inner = await holdUnlessGone(within(top, name));
      if (inner === null) continue;
      for (const below of await namesIn(inner)) {
        if (await unlinked(within(inner, below))) continue;
        await move(within(inner, below), within(top, Buffer.from(`${prefix}.${moved++}`)));
      }
      await rmdir(within(top, name)).catch(ignoring("ENOTEMPTY", "ENOENT", "ENOTDIR"));
    }
    if (moved === before) pass++;
  }
  throw Object.assign(new Error(`${names.length} entries came again and again`), { code: "ENOTEMPTY" });
}

/** False for a folder. */
async function unlinked(file: Buffer): Promise<boolean> {
  try {
    await unlink(file);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    if (codeOf(error) === "EISDIR") return false;
    throw error;
  }
}

/** What is not there any more needs no move. */
async function move(folder: Buffer, target: Buffer): Promise<void> {
  try {
    await rename(folder, target);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    if (codeOf(error) !== "EACCES") throw error;
    // Moving a folder changes what is in it: the way up.
    await chmodFolder(folder);
    await rename(folder, target);
  }
}

/** Null for what is no folder any more. */
async function holdUnlessGone(folder: Buffer): Promise<FileHandle | null> {
  try {
    return await hold(folder);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(codeOf(error) ?? "")) return null;
    if (codeOf(error) !== "EACCES") throw error;
    await chmodFolder(folder);
    return hold(folder);
  }
}

async function hold(folder: string | Buffer): Promise<FileHandle> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    // A program may have closed its own folder to us.
    await handle.chmod(0o700).catch(ignoring("EPERM"));
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Only where a mode hindered us, as it never does root: what a swapped link leads to then can only be our own. */
async function chmodFolder(folder: Buffer): Promise<void> {
  const stats = await lstat(folder);
  if (stats.isDirectory() && (stats.mode & 0o700) !== 0o700) await chmod(folder, 0o700);
}

/** Bytes: programs call their files what they like. */
function namesIn(folder: FileHandle): Promise<Buffer[]> {
  return readdir(within(folder, Buffer.alloc(0)), { encoding: "buffer" });
}

/** A path that leads through the open folder, whatever its name is by now. */
function within({ fd }: FileHandle, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);
}

function isOwners(uid: number, owner: TreeOwner): boolean {
  return owner.uid === null || owner.uid === uid;
}

function notOurs(folder: string): Error {
  return Object.assign(new Error(`${folder} is not ours`), { code: "EPERM" });
}

function ignoring(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!codes.includes(codeOf(error) ?? "")) throw error;
  };
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
