import { formatBytes } from "../../../base/bytes.ts";
import { readMemory } from "./processes/memory-use.ts";
import type { PreloadRun } from "./preload-run.ts";

export interface MemoryWatchOptions {
  /** Programs that run now. */
  readonly runs: ReadonlySet<PreloadRun>;
  /** For all of them together. */
  readonly limitBytes: number;
  readonly platform: NodeJS.Platform;
}

/** How often programs are looked at; `ps` costs a process. Null where nothing can be learned. */
export function memoryIntervalMs(platform: NodeJS.Platform): number | null {
  if (platform === "linux") return 50;
  return platform === "win32" ? null : 500;
}

/** Watches the memory of a container's programs, and ends the largest when together they use too much. */
export class MemoryWatch {
  /** Highest use seen of all together; null when none was seen. */
  peakBytes: number | null = null;
  /** Programs that were ended. */
  kills = 0;
  readonly #options: MemoryWatchOptions;
  readonly #ended = new WeakSet<PreloadRun>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<number | null> | undefined;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
  }

  start(): void {
    const intervalMs = memoryIntervalMs(this.#options.platform);
    if (intervalMs !== null) this.#timer = setInterval(() => void this.look(), intervalMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Memory of all programs together now, 0 when none runs; null where it is not told. */
  look(): Promise<number | null> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(): Promise<number | null> {
    const { runs, limitBytes, platform } = this.#options;
    if (memoryIntervalMs(platform) === null) return null;
    const uses = await Promise.all(
      [...runs].map(async (run) => {
        const use = run.processId === undefined ? null : await readMemory(run.processId, platform);
        return { run, bytes: use?.bytes ?? 0, peakBytes: use?.peakBytes ?? 0 };
      }),
    );
    if (uses.length === 0) return 0;
    const total = uses.reduce((sum, { bytes }) => sum + bytes, 0);
    this.peakBytes = Math.max(this.peakBytes ?? 0, total, ...uses.map(({ peakBytes }) => peakBytes));
    if (total > limitBytes) this.#endLargest(uses);
    return total;
  }

  #endLargest(uses: readonly { readonly run: PreloadRun; readonly bytes: number }[]): void {
    const [largest] = uses.toSorted((a, b) => b.bytes - a.bytes);
    if (largest === undefined || this.#ended.has(largest.run)) return;
    this.#ended.add(largest.run);
    this.kills++;
    const limit = formatBytes(this.#options.limitBytes);
    void largest.run.endFor(`the program was ended, because more than ${limit} of memory were used`);
  }
}
