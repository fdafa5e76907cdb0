import { constants, type BigIntStats } from "node:fs";
import { lstat, open, readlink, realpath, readFile, type FileHandle } from "node:fs/promises";
import type { MountIdentity } from "../../engines/container-spec.ts";
import type { FoundPlace, PlaceKind } from "../../policy/mounts/mount-verdict.ts";
import type { FileBytes } from "../../policy/request/context-files.ts";
import { readBounded, readExactly } from "./read-bounded.ts";
import path from "node:path";
import { parseMountTable } from "../../base/mount-table.ts";

/**
 * A file or folder of this machine that is held open, so that what was checked is what is used, even if names are moved
 * or swapped meanwhile.
 */
export interface OpenPlace extends FoundPlace, AsyncDisposable {
  /** Platform that it is on. */
  readonly platform: NodeJS.Platform;
  /** A path to exactly what is open, valid while it is; on systems other than Linux the real path. */
  readonly stablePath: string;
  /** Its owner's uid and gid; on Windows, which has none, those that programs run as by default. */
  readonly owner: PlaceOwner;
  /** Whether the real path still leads to what is open; checked right before an engine is given that path. */
  isStillThere(): Promise<boolean>;
  /** What an engine's mount of it must be; see `MountSpec.identity`. */
  identify(): Promise<MountIdentity>;
  /** The file's bytes, null if there are more than `maxBytes`. */
  readFile(maxBytes: number): Promise<Uint8Array | null>;
  /**
   * The file's bytes, to be read later: until the result is disposed, and on systems other than Linux only while this
   * file itself is held open.
   */
  openBytes(): Promise<FileBytes & AsyncDisposable>;
}

export interface PlaceOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Whatever uid 0 means there, files do not belong to it. */
const ownerOnWindows: PlaceOwner = { uid: 1000, gid: 1000 };

const readOnly = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
/** Linux: opens the path without reading it, so that permissions, devices and pipes do not matter. */
const openPathOnly = 0o10_000_000;
/** macOS: refuses links anywhere in a path. */
const noFollowAny = 0x2000_0000;

/**
 * Opens what a path leads to and determines its real path.
 *
 * On Linux, opens it first and asks the kernel for its path, so nothing can be swapped in between. Elsewhere, resolves
 * the path first and opens it without following links, which applies to the whole path on macOS and to the last name on
 * others.
 * @returns null if the path was moved or swapped meanwhile; rejects with Node's error if it cannot be opened
 */
export async function openPlace(path: string, platform: NodeJS.Platform): Promise<OpenPlace | null> {
  const place = platform === "linux" ? await openByHandle(path) : await openByPath(path, platform);
  let isThere = false;
  try {
    isThere = await place.isStillThere();
  } finally {
    if (!isThere) await place[Symbol.asyncDispose]();
  }
  return isThere ? place : null;
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
        try {
          const { size } = await readable.stat();
          return bytesOf(readable, size, () => readable.close());
        } catch (error) {
          await readable.close();
          throw error;
        }
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

/** Whether a path, without any link in it, is that of the file with this device and inode. */
async function leadsTo(path: string, { dev, ino }: BigIntStats): Promise<boolean> {
  try {
    const there = await lstat(path, { bigint: true });
    return (await realpath(path)) === path && there.dev === dev && there.ino === ino;
  } catch {
    // If it cannot be checked, it is not known to be the same.
    return false;
  }
}

function kindOf(stat: BigIntStats): PlaceKind {
  if (stat.isDirectory()) return "folder";
  return stat.isFile() ? "file" : "other";
}

type HeldPlace = Pick<MountIdentity, "heldAt" | "place">;

const unknown: HeldPlace = { heldAt: null, place: null };

/** Where an open file or folder of ours is, for mounts of it and in mount tables; all null on other systems than Linux. */
async function heldPlace(descriptor: number): Promise<HeldPlace> {
  try {
    // As bytes: names need not be UTF-8.
    const [processId, facts, table, realPath] = await Promise.all([
      readlink("/proc/self"),
      readFile(`/proc/self/fdinfo/${descriptor}`, "latin1"),
      readFile("/proc/self/mountinfo", "latin1"),
      readlink(`/proc/self/fd/${descriptor}`, "latin1"),
    ]);
    const mountId = Number(/^mnt_id:\s*(\d+)$/m.exec(facts)?.[1] ?? Number.NaN);
    const mount = parseMountTable(table).find(({ id }) => id === mountId);
    if (mount === undefined) return unknown;
    const below = path.relative(mount.mountPoint, realPath);
    if (below === ".." || below.startsWith("../")) return unknown;
    const place = { device: mount.device, root: path.join(mount.root, below) };
    return { heldAt: `/proc/${processId}/fd/${descriptor}`, place };
  } catch {
    return unknown;
  }
}
