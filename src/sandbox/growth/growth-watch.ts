import { stat, statfs } from "node:fs/promises";
import { throwIfCancelled } from "../../base/abort.ts";
import { ProjectGrowth, type FreeSpace, type GrowthLimits } from "../../policy/project-growth.ts";
import type { OpenPlace } from "../mounts/open-place.ts";
import { measureTree } from "./measure-tree.ts";

export interface GrowthWatchOptions {
  readonly place: Pick<OpenPlace, "stablePath" | "realPath">;
  readonly limits: GrowthLimits;
  /**
   * Whether the folder was empty at first and the sandbox alone writes to it. Then all that is in it counts, and it is walked
   * through every 10 s at least: what others free on the same disk would hide what is taken here. Default: false.
   */
  readonly startsEmpty?: boolean | undefined;
  readonly executable: string;
  readonly platform: NodeJS.Platform;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** By how much a file's time may lie before the clock: the kernel's tick, 10 ms at most, or whole seconds. */
const fineClockStepMs = 20;
const coarseClockStepMs = 2_000;
const nanosecondsPerSecond = 1_000_000_000n;

/** Time without a walk of a folder that started empty. */
const walkEveryMs = 10_000;

/** After a walk comes a rest of so many times as long, so that walks take no more than a third of a processor. */
const restFactor = 2;

/** What a project takes of its sandbox's disk limit. */
export interface Grown {
  readonly bytes: number;
  readonly files: number;
  /** Whether it grew at the last look. */
  readonly grows: boolean;
}

/** Watches by how much a project grows while work runs (SPEC LI1). */
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

  /** Notes what is free, at the beginning and the end of work. `worked`: whether some ran since the last time. Never rejects. */
  async note(worked: boolean): Promise<void> {
    // A project that is gone has nothing free; the next look tells.
    await this.#observe({ worked }).catch(() => undefined);
  }

  /**
   * Takes in what work that has ended left behind, before other work begins: what that finds is not its doing.
   * @throws CANCELLED
   */
  async settle(signal: AbortSignal): Promise<void> {
    if (!this.#growth.needsWalk || this.#walks) return;
    this.#walks = true;
    try {
      await this.#walk(signal);
    } catch {
      // The next look tells what is wrong with the project.
      throwIfCancelled(signal);
    } finally {
      this.#walks = false;
    }
  }

  /** Notes what is free, and walks through the project where that has become necessary. @throws CANCELLED */
  async look(
    worked: boolean,
    { freed, signal }: { readonly freed: number; readonly signal: AbortSignal },
  ): Promise<Grown> {
    await this.#observe({ worked, freed });
    const { needsWalk, grown, startsEmpty } = this.#growth;
    const now = this.#options.now();
    const isDue = needsWalk || (startsEmpty && now - this.#since >= walkEveryMs);
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
