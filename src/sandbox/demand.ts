/** What bounds the demand for one kind of warm sandbox. */
export interface DemandBounds {
  /** Kept once it has been requested, however long ago. */
  readonly min: number;
  readonly max: number;
  /** After this long without a request only `min` are wanted. */
  readonly idleMs: number;
  /** The request from which it is worth having any: 1 is the first. */
  readonly worthFrom: number;
}

/** How long is looked back for what was never needed. */
const windowMs = 60_000;

/**
 * How many warm sandboxes of one kind are worth having: one more with each request that found none, and half of what was
 * never needed fewer with each minute.
 */
export class Demand {
  readonly #bounds: DemandBounds;
  #asked = 0;
  #lastAskedMs: number;
  #wanted = 0;
  #leastLeft = Number.POSITIVE_INFINITY;
  #windowEndsMs: number;

  /** `nowMs` is of a clock that never goes back, here and below. */
  constructor(bounds: DemandBounds, nowMs: number) {
    this.#bounds = bounds;
    this.#lastAskedMs = nowMs;
    this.#windowEndsMs = nowMs + windowMs;
  }

  get wanted(): number {
    return this.#wanted;
  }

  get lastAskedMs(): number {
    return this.#lastAskedMs;
  }

  /** Whether there has been no request for long and none is kept. */
  isOver(nowMs: number): boolean {
    return this.#wanted === 0 && nowMs - this.#lastAskedMs >= this.#bounds.idleMs;
  }

  /** A request arrives, and finds this many. */
  ask(found: number, nowMs: number): void {
    const { min, max, worthFrom } = this.#bounds;
    this.#asked += 1;
    this.#lastAskedMs = nowMs;
    this.#leastLeft = Math.min(this.#leastLeft, Math.max(0, found - 1));
    if (found === 0 && this.#asked >= worthFrom) this.#wanted = Math.min(max, Math.max(min, this.#wanted + 1));
  }

  /** Time passes, with this many waiting. */
  settle(present: number, nowMs: number): void {
    const { min, idleMs } = this.#bounds;
    if (nowMs - this.#lastAskedMs >= idleMs) {
      this.#asked = 0;
      this.#wanted = Math.min(this.#wanted, min);
    } else if (nowMs >= this.#windowEndsMs && this.#wanted > 1) {
      const unneeded = Math.min(this.#leastLeft, present);
      this.#wanted = Math.max(1, min, this.#wanted - Math.ceil(unneeded / 2));
    }
    if (nowMs < this.#windowEndsMs) return;
    this.#leastLeft = present;
    this.#windowEndsMs = nowMs + windowMs;
  }
}
