/** One waiting request. */
export interface Waiter<Admitted> {
  readonly principal: string;
  admit(admitted: Admitted): void;
  refuse(error: Error): void;
}

/** For how many principals the time of service is remembered; the oldest is forgotten first. */
const maxRemembered = 1000;

/** The waiting requests, by principal in order of arrival, and which one is next. */
export class WaitingRoom<Admitted> {
  readonly #queues = new Map<string, Waiter<Admitted>[]>();
  /** When each principal was last served, the longest ago first. */
  readonly #served = new Map<string, number>();
  #turns = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** How many requests of the selected principals wait. */
  count(isChosen: (principal: string) => boolean): number {
    return [...this.#queues].reduce((sum, [principal, { length }]) => sum + (isChosen(principal) ? length : 0), 0);
  }

  enter(waiter: Waiter<Admitted>): void {
    const queue = this.#queues.get(waiter.principal) ?? [];
    this.#queues.set(waiter.principal, queue);
    queue.push(waiter);
    this.#size += 1;
  }

  /** Does nothing if it has already left. */
  leave(waiter: Waiter<Admitted>): void {
    const queue = this.#queues.get(waiter.principal) ?? [];
    const index = queue.indexOf(waiter);
    if (index === -1) return;
    queue.splice(index, 1);
    this.#size -= 1;
    if (queue.length === 0) this.#queues.delete(waiter.principal);
  }

  noteServed(principal: string): void {
    this.#served.delete(principal);
    this.#served.set(principal, (this.#turns += 1));
    const [oldest] = this.#served.keys();
    if (this.#served.size > maxRemembered && oldest !== undefined) this.#served.delete(oldest);
  }

  /**
   * The first request of the principal that holds the fewest slots, among equals of the one served longest ago; null if
   * none may go. `placesOf` is null for a principal that may not go now.
   */
  next(placesOf: (principal: string) => number | null): Waiter<Admitted> | null {
    let best: { readonly waiter: Waiter<Admitted>; readonly places: number; readonly turn: number } | null = null;
    for (const [principal, [waiter]] of this.#queues) {
      const places = placesOf(principal);
      if (places === null || waiter === undefined) continue;
      const turn = this.#served.get(principal) ?? 0;
      const isBetter = best === null || places < best.places || (places === best.places && turn < best.turn);
      if (isBetter) best = { waiter, places, turn };
    }
    return best?.waiter ?? null;
  }

  /**
   * The newest request of the principal with the most waiting, if that is still more than `principal` would have with
   * one more; else null: equals do not displace each other.
   */
  lastOfLongest(principal: string): Waiter<Admitted> | null {
    let longest: readonly Waiter<Admitted>[] = [];
    for (const queue of this.#queues.values()) if (queue.length > longest.length) longest = queue;
    const own = this.#queues.get(principal)?.length ?? 0;
    return longest.length > own + 1 ? (longest.at(-1) ?? null) : null;
  }
}
