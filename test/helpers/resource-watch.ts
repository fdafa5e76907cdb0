import { performance } from "node:perf_hooks";

const everyMs = 20;

/** Watches this process's memory and how long its event loop is blocked. */
export class ResourceWatch {
  readonly #before = process.memoryUsage.rss();
  readonly #timer: NodeJS.Timeout;
  #most = this.#before;
  #last = performance.now();
  #longestPauseMs = 0;

  constructor() {
    this.#timer = setInterval(() => this.#look(), everyMs);
  }

  /** The largest growth of memory, and the longest time between two turns of the event loop. */
  end(): { readonly memoryBytes: number; readonly longestPauseMs: number } {
    clearInterval(this.#timer);
    this.#look();
    return { memoryBytes: this.#most - this.#before, longestPauseMs: this.#longestPauseMs };
  }

  #look(): void {
    const now = performance.now();
    this.#longestPauseMs = Math.max(this.#longestPauseMs, now - this.#last - everyMs);
    this.#last = now;
    this.#most = Math.max(this.#most, process.memoryUsage.rss());
  }
}
