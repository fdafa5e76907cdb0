import { stat, statfs } from "node:fs/promises";
import { throwIfCancelled } from "../base/abort.ts";
import { ProjectGrowth, type FreeSpace, type GrowthLimits, type TreeSize } from "../policy/project-growth.ts";
import type { OpenPlace } from "./mounts/open-place.ts";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { kibibyte, mebibyte } from "../base/bytes.ts";
import { runLimitedChild } from "../base/limited-child.ts";
import type { TreeWalk } from "./walk-tree.ts";
import type { Kit } from "../base/kit.ts";

interface MeasureTree extends Omit<TreeWalk, "maxFiles" | "maxDepth"> {
  /** Node's executable, as in `process.execPath`. */
  readonly executable: string;
}

/** A million files take 5 to 10 s. */
const timeLimitMs = 30_000;
/** Each level takes two descriptors. */
const bounds = { maxFiles: 5_000_000, maxDepth: 1_000 } as const;
const heapMegabytes = 512;
/** Address space; Node reserves about 1.5 GiB of it at the start. */
const addressSpaceBytes = 4096 * mebibyte;

/** It reads any folder, and needs to write or start nothing. */
const flags = [`--max-old-space-size=${heapMegabytes}`, "--no-warnings", "--permission", "--allow-fs-read=*"];

const count = z.number().nonnegative();
const answerSchema = z.strictObject({
  bytes: count,
  files: count,
  freshBytes: count,
  freshFiles: count,
  isWhole: z.boolean(),
});

const unknown: TreeSize = { bytes: 0, files: 0, freshBytes: 0, freshFiles: 0, isWhole: false };

/**
 * The size of a folder, walked in a separate process, so that nothing in the folder can block this one. The result is
 * incomplete if that process runs out of time or memory. @throws CANCELLED
 */
async function measureTree({ executable, ...walk }: MeasureTree, signal: AbortSignal): Promise<TreeSize> {
  const result = await runLimitedChild(
    {
      name: "The measuring of a project",
      command: [executable, ...flags, script()],
      environment: {},
      platform: walk.platform,
      input: JSON.stringify({ ...walk, ...bounds } satisfies TreeWalk),
      timeLimitMs,
      memoryLimitBytes: addressSpaceBytes,
      maxOutputBytes: kibibyte,
    },
    signal,
  );
  if (result.exitCode !== 0) return unknown;
  const answer = answerSchema.safeParse(JSON.parse(Buffer.from(result.stdout).toString("utf8")));
  return answer.success ? answer.data : unknown;
}

function script(): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(new URL(isSource ? "./walk-main.ts" : "./walk-main.js", import.meta.url));
}

export interface GrowthWatchOptions extends Pick<Kit, "now" | "platform"> {
  readonly place: Pick<OpenPlace, "stablePath" | "realPath">;
  readonly limits: GrowthLimits;
  /**
   * Whether the folder was empty at first and only the sandbox writes to it. Then everything in it counts, and it is
   * walked at least every 10 s while work runs, and every minute otherwise: space that others free on the same disk would
   * hide what is used here. Default: false.
   */
  readonly startsEmpty?: boolean | undefined;
  readonly executable: string;
}

/** By how much a file's time may lag behind the clock: the kernel's tick, 10 ms at most, or whole seconds. */
const fineClockStepMs = 20;
const coarseClockStepMs = 2_000;
const nanosecondsPerSecond = 1_000_000_000n;

/** Maximum time between walks of a folder that started empty, while work runs and otherwise. */
const walkEveryMs = { busy: 10_000, idle: 60_000 };

/** After a walk comes a pause of this many times its duration, so that walks use at most a third of a processor. */
const restFactor = 2;

/** How much of its sandbox's disk limit a project uses. */
export interface Grown {
  readonly bytes: number;
  readonly files: number;
  /** Whether it grew at the last look. */
  readonly grows: boolean;
}

/** Watches how much a project grows while work runs (SPEC LI1). */
export class GrowthWatch {
  readonly #options: GrowthWatchOptions;
  readonly #growth: ProjectGrowth;
  #walks = false;
  #since: number;
  #restUntil = 0;

  constructor(options: GrowthWatchOptions) {
    this.#options = options;
    this.#growth = new ProjectGrowth(options.limits, { startsEmpty: options.startsEmpty === true });
    this.#since = options.now();
  }

  get limits(): GrowthLimits {
    return this.#growth.limits;
  }

  /**
   * Records the free space, at the beginning and the end of work. `worked`: whether work ran since the last time. Never
   * rejects.
   */
  async note(worked: boolean): Promise<void> {
    // A project that is gone has no free space; the next check reports it.
    await this.#observe({ worked }).catch(() => undefined);
  }

  /**
   * Measures what earlier work left behind before new work begins, so that it is not attributed to the new work.
   * @throws CANCELLED
   */
  async settle(signal: AbortSignal): Promise<void> {
    if (!this.#growth.needsWalk || this.#walks) return;
    this.#walks = true;
    try {
      await this.#walk(signal);
    } catch {
      // The next check reports what is wrong with the project.
      throwIfCancelled(signal);
    } finally {
      this.#walks = false;
    }
  }

  /** Records the free space, and walks the project if that has become necessary. @throws CANCELLED */
  async look(
    worked: boolean,
    { freed, signal }: { readonly freed: number; readonly signal: AbortSignal },
  ): Promise<Grown> {
    await this.#observe({ worked, freed });
    const { needsWalk, grown, startsEmpty } = this.#growth;
    const now = this.#options.now();
    const isDue = needsWalk || (startsEmpty && now - this.#since >= (worked ? walkEveryMs.busy : walkEveryMs.idle));
    const mayWalk = !this.#walks && now >= this.#restUntil;
    if (!isDue || !mayWalk) return { ...grown, grows: false };
    this.#walks = true;
    try {
      const grows = await this.#walk(signal);
      return { ...this.#growth.grown, grows };
    } finally {
      this.#walks = false;
    }
  }

  async #walk(signal: AbortSignal): Promise<boolean> {
    const { place, executable, platform, now } = this.#options;
    const startedAt = now();
    this.#growth.beginWalk();
    const { dev, ino, ctimeNs } = await stat(place.stablePath, { bigint: true });
    const hasFineClock = ctimeNs % nanosecondsPerSecond !== 0n;
    const since = this.#since - (hasFineClock ? fineClockStepMs : coarseClockStepMs);
    const tree = await measureTree(
      { root: place.realPath, device: String(dev), inode: String(ino), since, platform, executable },
      signal,
    );
    const grows = this.#growth.settle(tree);
    this.#since = startedAt;
    this.#restUntil = now() + (now() - startedAt) * restFactor;
    return grows;
  }

  async #observe(seen: { readonly worked: boolean; readonly freed?: number }): Promise<void> {
    this.#growth.observe(await freeSpace(this.#options.place.stablePath), seen);
  }
}

async function freeSpace(place: string): Promise<FreeSpace> {
  const { bsize, bfree, files, ffree } = await statfs(place);
  return { bytes: bsize * bfree, files: files === 0 ? null : ffree };
}
