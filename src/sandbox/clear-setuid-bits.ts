import { constants } from "node:fs";
import { chmod, open } from "node:fs/promises";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { HostFolder, isGone, type WalkedEntry } from "../base/host-folder.ts";
import type { OpenPlace } from "./mounts/open-place.ts";

/** Files whose setuid bit was removed. */
export interface ClearedFiles {
  readonly count: number;
  /** Some of their names, from the folder. */
  readonly names: readonly string[];
}

/** Linux: opens a place without reading it. */
const openPathOnly = 0o10_000_000;
/** macOS: refuses links anywhere in a path. */
const noFollowAny = 0x2000_0000;
const setuidBit = 0o4000;
/** Each level takes two descriptors. */
const maxDepth = 200;
const maxNames = 5;

/** Systems on which no program can lead the walk elsewhere; Windows has no such bit. */
const walkedSystems: ReadonlySet<NodeJS.Platform> = new Set(["linux", "darwin", "win32"]);

/** Whether the bits can be removed from files on that system. */
export function canClearSetuidBits({ platform }: Pick<OpenPlace, "platform">): boolean {
  return walkedSystems.has(platform);
}

/**
 * Takes the setuid bit of every file below a folder that belongs to the folder's owner, as programs can make files of no other. On
 * Linux every step goes from one held descriptor to the next and through no link, so that whoever moves and exchanges names
 * meanwhile leads it nowhere else. On macOS folders are listed by their names, which may lead elsewhere by then; what is changed is
 * opened by its whole path, in which no link is followed.
 * @throws POLICY_DENIED for folders too deep to follow; Node's error where the bit cannot be taken
 */
export async function clearSetuidBits({
  stablePath,
  owner,
  platform,
}: Pick<OpenPlace, "stablePath" | "owner" | "platform">): Promise<ClearedFiles> {
  const names: string[] = [];
  let count = 0;
  if (platform === "win32") return { count, names };
  await using top = await HostFolder.of({ stablePath }, platform);
  // A program may close its folder to its own user and leave it open to others.
  const walk = top.walk({ maxDepth, reopensOf: owner.uid, onTooDeep: tooDeep });
  for await (const entry of walk) {
    if (!entry.stat.isFile() || (entry.stat.mode & setuidBit) === 0) continue;
    if (!(await takeBit(entry, owner.uid))) continue;
    count += 1;
    if (names.length < maxNames) names.push(entry.path);
  }
  return { count, names };
}

/** False: it was no such file any more once it was open. */
async function takeBit({ folder: { platform }, place }: WalkedEntry, ownerUid: number): Promise<boolean> {
  const noLinks = platform === "darwin" ? noFollowAny : (constants.O_NOFOLLOW ?? 0);
  const how = platform === "linux" ? openPathOnly : constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  try {
    await using file = await open(place, how | noLinks);
    const stat = await file.stat();
    if (!stat.isFile() || (stat.mode & setuidBit) === 0 || stat.uid !== ownerUid) return false;
    const mode = stat.mode & 0o3777;
    // What is open without being readable is changed by its own path.
    await (platform === "linux" ? chmod(`/proc/self/fd/${file.fd}`, mode) : file.chmod(mode));
    return true;
  } catch (error) {
    // A change in progress: the next look sees it.
    if (isGone(error)) return false;
    throw error;
  }
}

function tooDeep(): never {
  throw new GloveboxError(
    "POLICY_DENIED",
    `The project has folders inside each other more than ${maxDepth} deep, which cannot be watched for setuid files.`,
    {
      suggestion: "Use an engine and an OCI runtime that run on this machine's own kernel, or ask for read_only.",
      context: { rule: "too-deep" },
    },
  );
}
