import { constants, type Dirent } from "node:fs";
import { chmod, lstat, open, opendir, type FileHandle } from "node:fs/promises";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { OpenPlace } from "../mounts/open-place.ts";

/** Files whose setuid bit was taken. */
export interface ClearedFiles {
  readonly count: number;
  /** Some of their names, from the folder; a byte that is no ASCII is shown as one character. */
  readonly names: readonly string[];
}

/** Linux: opens a place without reading it. */
const openPathOnly = 0o10_000_000;
const asFolder = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const setuidBit = 0o4000;
/** Each level holds two descriptors. */
const maxDepth = 200;
const maxNames = 5;
/** A change that went on while it was looked at: the next look sees it. */
const changedMeanwhile: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

interface Walk {
  /** Programs can make files of this user only. */
  readonly ownerUid: number;
  readonly names: string[];
  count: number;
}

/**
 * Takes the setuid bit of every file below a folder that belongs to the folder's owner. Linux only. Every step goes from
 * one held descriptor to the next and through no link, so that whoever moves and exchanges names meanwhile leads it
 * nowhere else.
 * @throws POLICY_DENIED for folders too deep to follow; Node's error where the bit cannot be taken
 */
export async function clearSetuidBits({
  stablePath,
  owner,
}: Pick<OpenPlace, "stablePath" | "owner">): Promise<ClearedFiles> {
  const walk: Walk = { ownerUid: owner.uid, names: [], count: 0 };
  await using top = await open(`${stablePath}/.`, asFolder);
  await clearFolder(walk, top, []);
  return { count: walk.count, names: walk.names };
}

async function clearFolder(walk: Walk, handle: FileHandle, place: readonly string[]): Promise<void> {
  if (place.length > maxDepth) throw tooDeep();
  const here = `/proc/self/fd/${handle.fd}`;
  // Names need not be UTF-8: one that is not must not be overlooked.
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
  walk.count += 1;
  if (walk.names.length < maxNames) walk.names.push(names.join("/"));
}

/** Null for a folder that is closed to us and belongs to another user than programs. */
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

async function unlessChanged(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!changedMeanwhile.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

function tooDeep(): GloveboxError {
  return new GloveboxError(
    "POLICY_DENIED",
    `The project has folders inside each other more than ${maxDepth} deep, which cannot be watched for setuid files.`,
    {
      suggestion: "Use an engine and an OCI runtime that run on this machine's own kernel, or ask for read_only.",
      context: { rule: "too-deep" },
    },
  );
}
