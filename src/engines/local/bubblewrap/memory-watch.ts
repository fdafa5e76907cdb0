import type { ContainerStats } from "../../engine.ts";
import type { SandboxRun } from "./run/sandbox-run.ts";

/** More often does not find more: what is used in between takes as long to be given. */
const intervalMs = 50;

export interface MemoryWatchOptions {
  /** For all programs of a container together. */
  readonly limitBytes: number;
  /** Those that run now. */
  readonly runs: ReadonlySet<SandboxRun>;
}

/**
 * Stands in for a control group's memory limit where none can be made: looks at the memory of a container's programs,
 * and ends the largest, with all that it started, when together they use more. Contents of nameless files (memfd) are not
 * seen, and what is used within one look's time is.
 */
export class MemoryWatch implements ContainerStats {
  memoryPeakBytes = 0;
  oomKills = 0;
  readonly #options: MemoryWatchOptions;
  readonly #ended = new WeakSet<SandboxRun>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
  }

  /** Memory of all programs now. */
  get memoryBytes(): number {
    return this.#look();
  }

  /** To be called when a program has begun. */
  start(): void {
    this.#timer ??= setInterval(() => {
      if (this.#options.runs.size === 0) this.#stop();
      else this.#look();
    }, intervalMs).unref();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): number {
    const uses = [...this.#options.runs].map((run) => ({ run, bytes: run.memoryBytes }));
    const total = uses.reduce((sum, { bytes }) => sum + bytes, 0);
    this.memoryPeakBytes = Math.max(this.memoryPeakBytes, total);
    const [largest] = uses.toSorted((a, b) => b.bytes - a.bytes);
    if (total > this.#options.limitBytes && largest !== undefined) this.#end(largest.run);
    return total;
  }

  #end(run: SandboxRun): void {
    if (this.#ended.has(run)) return;
    this.#ended.add(run);
    this.oomKills++;
    void run.kill();
  }
}
