import type { ContainerSpec } from "../../container-spec.ts";
import { unknownStats, type ContainerStats } from "../../container-stats.ts";
import type { PreloadLauncher } from "./preload-launcher.ts";
import type { PreloadRun } from "./preload-run.ts";
import { formatBytes } from "../../../base/bytes.ts";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

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

/** Bytes that everything below the folders takes on disk; what goes away meanwhile does not count. */
async function folderSize(folders: readonly string[]): Promise<number> {
  let total = 0;
  const waiting = [...folders];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else total += await sizeOnDisk(path);
    }
  }
  return total;
}

/** Sparse files take less than their length; Windows tells no blocks. */
async function sizeOnDisk(path: string): Promise<number> {
  try {
    const { blocks, size } = await lstat(path);
    return blocks === undefined ? size : blocks * 512;
  } catch {
    return 0;
  }
}

interface DiskWatchOptions {
  /** Real paths. */
  readonly folders: readonly string[];
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
    const { folders, limitBytes, runs } = this.#options;
    this.#measuring = true;
    const bytes = await folderSize(folders);
    this.#measuring = false;
    if (bytes <= limitBytes) return;
    const reason = `the program was killed because its files take more than ${formatBytes(limitBytes)}`;
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
    const { memoryIntervalMs: intervalMs, unlimitedFolders: folders } = launcher;
    const scratchBytes = spec.scratch.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    this.#memory =
      intervalMs === null ? null : new MemoryWatch({ limitBytes: spec.limits.memoryBytes, intervalMs, runs });
    this.#disk = folders.length === 0 ? null : new DiskWatch({ folders, limitBytes: scratchBytes, runs });
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
