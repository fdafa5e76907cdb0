import { constants } from "node:fs";
import { chmod, open } from "node:fs/promises";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { HostFolder, isGone, type WalkedEntry } from "../base/host-folder.ts";
import type { OpenPlace } from "./mounts/open-place.ts";
import { setTimeout as sleep } from "node:timers/promises";

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

/** Time between two looks while something runs (SPEC RT6), and while nothing is known to. */
const everyMs = { busy: 1_000, idle: 5_000 };

/** A large project takes long to look at: so many times as long nothing is done then. */
const restFactor = 4;

interface SetuidWatchParts {
  readonly place: Pick<OpenPlace, "stablePath" | "owner" | "platform">;
  readonly isBusy: () => boolean;
  readonly onCleared: (files: ClearedFiles) => void;
  /** The bits cannot be removed: what writes there must end. Called once. */
  readonly onFailed: (error: unknown) => void;
  readonly monotonicMs: () => number;
}

/** Removes the setuid bits of files in a folder that programs write to, where no filter refuses them. */
export class SetuidWatch {
  readonly #parts: SetuidWatchParts;
  readonly #ending = new AbortController();
  #count = 0;
  #hasFailed = false;
  #lastMs = 0;
  #looking: Promise<void> = Promise.resolve();
  /** Waits for the look in progress, which may have missed what is new. */
  #next: Promise<void> | null = null;
  #closed: Promise<void> | undefined;

  constructor(parts: SetuidWatchParts) {
    this.#parts = parts;
    void this.#goOn();
  }

  /** Files whose bit has been removed so far. */
  get count(): number {
    return this.#count;
  }

  /**
   * Resolves when everything has been looked at that was there at the call; failures are reported once, to `onFailed`.
   */
  look(): Promise<void> {
    this.#next ??= this.#looking = this.#looking.then(() => {
      this.#next = null;
      return this.#look();
    });
    return this.#next;
  }

  /** A last look, when nothing writes there any more. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#ending.abort();
    await this.look();
  }

  async #goOn(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted && !this.#hasFailed) {
      const pauseMs = Math.max(this.#parts.isBusy() ? everyMs.busy : everyMs.idle, restFactor * this.#lastMs);
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await this.look();
    }
  }

  async #look(): Promise<void> {
    const { place, monotonicMs, onCleared, onFailed } = this.#parts;
    const startedMs = monotonicMs();
    try {
      const files = await clearSetuidBits(place);
      this.#count += files.count;
      if (files.count > 0) onCleared(files);
    } catch (error) {
      if (this.#hasFailed) return;
      this.#hasFailed = true;
      onFailed(error);
    } finally {
      this.#lastMs = monotonicMs() - startedMs;
    }
  }
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
