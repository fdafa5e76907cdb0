import { formatBytes } from "../../../../base/bytes.ts";
import { unknownStats, type ContainerStats } from "../../../container-stats.ts";
import type { PreloadRun } from "../preload-run.ts";

export interface MemoryWatchOptions {
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
export class MemoryWatch {
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
