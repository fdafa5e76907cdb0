/**
 * Lets one request of each principal begin in each turn of the event loop: between two that a principal sent at once, the
 * loop looks for what others have sent (SPEC SC9). Whoever sends one at a time never waits.
 */
export class LoopTurns {
  /** Who has begun one in this turn, with those that wait for the next turns, oldest first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isScheduled = false;

  /** Resolves when it is the turn of a request of the principal. */
  take(principal: string): Promise<void> {
    const own = this.#waiting.get(principal);
    this.#schedule();
    if (own === undefined) {
      this.#waiting.set(principal, []);
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    own.push(resolve);
    return promise;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#begin());
  }

  #begin(): void {
    this.#isScheduled = false;
    for (const [principal, own] of this.#waiting) {
      const next = own.shift();
      if (next === undefined) this.#waiting.delete(principal);
      else next();
    }
    if (this.#waiting.size > 0) this.#schedule();
  }
}
