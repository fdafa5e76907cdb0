import { constants, type BigIntStats } from "node:fs";
import { lstat, open, readlink, realpath, type FileHandle } from "node:fs/promises";
import type { MountIdentity } from "../../engines/container-spec.ts";
import type { FoundPlace, PlaceKind } from "../../policy/mounts/mount-verdict.ts";
import type { FileBytes } from "../../policy/request/context-files.ts";
import { heldPlace } from "./held-place.ts";
import { readBounded, readExactly } from "./read-bounded.ts";

/**
 * A file or folder of this machine that is held open, so that what was checked is what is used, whoever moves or swaps
 * names meanwhile.
 */
export interface OpenPlace extends FoundPlace, AsyncDisposable {
  /** System that it is on. */
  readonly platform: NodeJS.Platform;
  /** Leads to the very place that is open, as long as it is; on other systems than Linux the real path. */
  readonly stablePath: string;
  /** Who owns it, by number; on Windows, which has none, whom programs are by default. */
  readonly owner: PlaceOwner;
  /** Whether the real path still leads to what is open: asked right before an engine is given that path. */
  isStillThere(): Promise<boolean>;
  /** What an engine's mount of it must be; see `MountSpec.identity`. */
  identify(): Promise<MountIdentity>;
  /** The file's bytes, null when they are more than `maxBytes`. */
  readFile(maxBytes: number): Promise<Uint8Array | null>;
  /** The file's bytes, to be read later; they stay at hand until this is disposed, and on other systems than Linux the place. */
  openBytes(): Promise<FileBytes & AsyncDisposable>;
}

export interface PlaceOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Whatever uid 0 is there, files do not belong to it. */
const ownerOnWindows: PlaceOwner = { uid: 1000, gid: 1000 };

const readOnly = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
/** Linux: opens the place without reading it, so that no right, no device and no pipe gets in the way. */
const openPathOnly = 0o10_000_000;
/** macOS: refuses links anywhere in a path. */
const noFollowAny = 0x2000_0000;

/**
 * Opens what a path leads to and finds out where that is.
 *
 * Linux opens first and asks the kernel for the path of what is open, so nothing can be swapped in between. Elsewhere
 * the path is resolved first and opened without following links, which macOS heeds in the whole path and others in its
 * last name.
 * @returns null when the place was moved or swapped meanwhile; rejects with Node's error when it cannot be opened
 */
export async function openPlace(path: string, platform: NodeJS.Platform): Promise<OpenPlace | null> {
  const place = platform === "linux" ? await openByHandle(path) : await openByPath(path, platform);
  if (await place.isStillThere()) return place;
  await place[Symbol.asyncDispose]();
  return null;
}

async function openByHandle(path: string): Promise<OpenPlace> {
  const handle = await open(path, openPathOnly);
  return describe(handle, "linux", async (stat) => {
    const stablePath = `/proc/self/fd/${handle.fd}`;
    const realPath = await readlink(stablePath);
    return {
      realPath,
      stablePath,
      isStillThere: async () => (await readlink(stablePath)) === realPath && (await leadsTo(realPath, stat)),
      readFile: async (maxBytes) => {
        await using readable = await open(stablePath, readOnly);
        return await readBounded(readable, maxBytes);
      },
      openBytes: async () => {
        const readable = await open(stablePath, readOnly);
        const { size } = await readable.stat();
        return bytesOf(readable, size, () => readable.close());
      },
    };
  });
}

async function openByPath(path: string, platform: NodeJS.Platform): Promise<OpenPlace> {
  const realPath = await realpath(path);
  const noLinks = platform === "darwin" ? noFollowAny : (constants.O_NOFOLLOW ?? 0);
  const handle = await open(realPath, readOnly | noLinks);
  return describe(handle, platform, async (stat) => ({
    realPath,
    stablePath: realPath,
    isStillThere: () => leadsTo(realPath, stat),
    readFile: (maxBytes) => readBounded(handle, maxBytes),
    openBytes: () => Promise.resolve(bytesOf(handle, Number(stat.size), () => Promise.resolve())),
  }));
}

function bytesOf(handle: FileHandle, sizeBytes: number, close: () => Promise<void>): FileBytes & AsyncDisposable {
  return { sizeBytes, read: () => readExactly(handle, sizeBytes), [Symbol.asyncDispose]: close };
}

type Details = Omit<OpenPlace, "platform" | "kind" | "owner" | "identify" | typeof Symbol.asyncDispose>;

async function describe(
  handle: FileHandle,
  platform: NodeJS.Platform,
  details: (stat: BigIntStats) => Promise<Details>,
): Promise<OpenPlace> {
  try {
    const stat = await handle.stat({ bigint: true });
    const known = await details(stat);
    const owner = platform === "win32" ? ownerOnWindows : { uid: Number(stat.uid), gid: Number(stat.gid) };
    return {
      ...known,
      platform,
      kind: kindOf(stat),
      owner,
      identify: async () => ({ device: stat.dev, inode: stat.ino, ...(await heldPlace(handle.fd)) }),
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Whether a path is, without any link in it, that of the place with these numbers. */
async function leadsTo(path: string, { dev, ino }: BigIntStats): Promise<boolean> {
  try {
    const there = await lstat(path, { bigint: true });
    return (await realpath(path)) === path && there.dev === dev && there.ino === ino;
  } catch {
    // Whatever keeps it from being looked at, it is not known to be the same.
    return false;
  }
}

function kindOf(stat: BigIntStats): PlaceKind {
  if (stat.isDirectory()) return "folder";
  return stat.isFile() ? "file" : "other";
}
