/** A rate limit: a burst, and what is regained over time. */
export class Allowance {
  readonly #burst: number;
  readonly #perMs: number;
  readonly #monotonicMs: () => number;
  #left: number;
  #countedMs: number;

  constructor(pace: { readonly burst: number; readonly perSecond: number }, monotonicMs: () => number) {
    this.#burst = pace.burst;
    this.#perMs = pace.perSecond / 1_000;
    this.#monotonicMs = monotonicMs;
    this.#left = pace.burst;
    this.#countedMs = monotonicMs();
  }

  isLeft(): boolean {
    const nowMs = this.#monotonicMs();
    this.#left = Math.min(this.#burst, this.#left + (nowMs - this.#countedMs) * this.#perMs);
    this.#countedMs = nowMs;
    return this.#left > 0;
  }

  /** Uses so much of it, which may be more than is left. */
  use(count: number): void {
    this.#left -= count;
  }
}
