import type { ContainerSpec } from "../../container-spec.ts";
import { unknownStats, type ContainerStats } from "../../container-stats.ts";
import type { PreloadLauncher } from "./preload-launcher.ts";
import type { PreloadRun } from "./preload-run.ts";
import { formatBytes } from "../../../base/bytes.ts";
import { HostFolder } from "../../../base/host-folder.ts";
import { lstat } from "node:fs/promises";
import { basename, dirname } from "node:path";

interface MemoryWatchOptions {
  /** For all programs of a container together. */
  readonly limitBytes: number;
  readonly intervalMs: number;
  /** Those that run now. */
  readonly runs: ReadonlySet<PreloadRun>;
}

/**
 * Replaces a memory limit of the kernel: looks at the memory of a container's programs and, when together they use
 * more, ends the largest one with everything it started. What is used only between two looks is not seen.
 */
class MemoryWatch {
  readonly #options: MemoryWatchOptions;
  readonly #ended = new WeakSet<PreloadRun>();
  /** Highest use seen of all together; null when nothing was seen. */
  #peakBytes: number | null = null;
  #kills = 0;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<number> | undefined;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
  }

  /** To be called when a program has begun. */
  start(): void {
    this.#timer ??= setInterval(() => {
      if (this.#options.runs.size === 0) this.#stop();
      else void this.#look();
    }, this.#options.intervalMs).unref();
  }

  /** Looks now. */
  async stats(): Promise<ContainerStats> {
    const memoryBytes = await this.#look();
    return { ...unknownStats, memoryBytes, memoryPeakBytes: this.#peakBytes, oomKills: this.#kills };
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): Promise<number> {
    this.#looking ??= this.#measure().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #measure(): Promise<number> {
    const uses = await Promise.all(
      [...this.#options.runs].map(async (run) => ({
        run,
        ...((await run.readMemory()) ?? { bytes: 0, peakBytes: 0 }),
      })),
    );
    const [largest] = uses.toSorted((a, b) => b.bytes - a.bytes);
    if (largest === undefined) return 0;
    const total = uses.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#peakBytes = Math.max(this.#peakBytes ?? 0, total, ...uses.map(({ peakBytes }) => peakBytes));
    if (total > this.#options.limitBytes) this.#end(largest.run);
    return total;
  }

  #end(run: PreloadRun): void {
    if (this.#ended.has(run)) return;
    this.#ended.add(run);
    this.#kills++;
    const limit = formatBytes(this.#options.limitBytes);
    void run.endFor(`the program was killed because it used more than ${limit} of memory`);
  }
}

/** Folders in folders, each of which is held open while it is measured. */
const maxDepth = 500;
const tooDeep = `folders are more than ${maxDepth} deep, where nothing is measured`;

/**
 * Bytes that everything below the folders takes on disk; what goes away meanwhile does not count. Their programs may do there what
 * they like meanwhile: no link is followed, and what they close to themselves is opened again. Infinite for folders too deep to
 * measure.
 */
export async function folderSize(folders: readonly string[], platform: NodeJS.Platform): Promise<number> {
  let total = 0;
  const onTooDeep = (): void => void (total = Number.POSITIVE_INFINITY);
  for (const place of folders) {
    const stat = await lstat(place).catch(() => null);
    // From the folder above, which is ours: a program may close its own.
    const above = stat && (await HostFolder.of({ stablePath: dirname(place) }, platform).catch(() => null));
    if (above === null) continue;
    await using opened = above;
    const found = opened.walk({ maxDepth, reopensOf: stat?.uid, onTooDeep, onTrouble: () => undefined });
    for await (const entry of found) {
      if (entry.level === 1 && entry.name !== basename(place)) entry.passBy();
      else if (!entry.stat.isDirectory()) total += sizeOnDisk(entry.stat);
    }
  }
  return total;
}

/** Sparse files take less than their length; Windows tells no blocks. */
function sizeOnDisk({ blocks, size }: { readonly blocks?: number; readonly size: number }): number {
  return blocks === undefined ? size : blocks * 512;
}

interface DiskWatchOptions {
  /** Real paths. */
  readonly folders: readonly string[];
  readonly platform: NodeJS.Platform;
  /** For all of them together. */
  readonly limitBytes: number;
  /** Programs that run now. */
  readonly runs: ReadonlySet<PreloadRun>;
}

/** How often the folders are measured (SPEC RT6). */
const intervalMs = 1_000;

/** Replaces a limit for folders that the kernel does not limit: ends all programs when their files use more. */
class DiskWatch {
  readonly #options: DiskWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #measuring = false;

  constructor(options: DiskWatchOptions) {
    this.#options = options;
  }

  /** To be called when a program has begun. */
  start(): void {
    this.#timer ??= setInterval(() => {
      if (this.#options.runs.size === 0) this.#stop();
      else if (!this.#measuring) void this.#measure();
    }, intervalMs).unref();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #measure(): Promise<void> {
    const { folders, platform, limitBytes, runs } = this.#options;
    this.#measuring = true;
    const bytes = await folderSize(folders, platform).catch(() => 0);
    this.#measuring = false;
    if (bytes <= limitBytes) return;
    const what = Number.isFinite(bytes) ? `files take more than ${formatBytes(limitBytes)}` : tooDeep;
    const reason = `the program was killed because its ${what}`;
    await Promise.all([...runs].map((run) => run.endFor(reason)));
  }
}

export interface UsageWatchesOptions {
  readonly spec: ContainerSpec;
  readonly launcher: PreloadLauncher;
  /** Programs that run now. */
  readonly runs: ReadonlySet<PreloadRun>;
}

/** The watches over one container, for what the kernel does not limit there. */
export class UsageWatches {
  readonly #memory: MemoryWatch | null;
  readonly #disk: DiskWatch | null;

  constructor({ spec, launcher, runs }: UsageWatchesOptions) {
    const { memoryIntervalMs: intervalMs, unlimitedFolders: folders, platform } = launcher;
    const scratchBytes = spec.scratch.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    this.#memory =
      intervalMs === null ? null : new MemoryWatch({ limitBytes: spec.limits.memoryBytes, intervalMs, runs });
    this.#disk = folders.length === 0 ? null : new DiskWatch({ folders, platform, limitBytes: scratchBytes, runs });
  }

  /** To be called when a program has begun; they stop by themselves. */
  start(): void {
    this.#memory?.start();
    this.#disk?.start();
  }

  async stats(): Promise<ContainerStats> {
    return this.#memory === null ? unknownStats : this.#memory.stats();
  }
}
