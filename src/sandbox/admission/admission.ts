import { throwIfCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { WaitingRoom, type Waiter } from "./waiting-room.ts";

/** Sizes of the waiting room in front of the sandboxes (SPEC LI4). */
export interface AdmissionOptions {
  /** Sandboxes alive at once. */
  readonly maxSandboxes: number;
  /** Requests that may wait; one more is refused at once. */
  readonly queueLimit: number;
  /** How long a request may wait before it is refused. */
  readonly queueTimeoutMs: number;
  /** Told that one more request waits, which somebody could make room for. */
  readonly onWaiting?: (() => void) | undefined;
}

/** A place that is given back at some time; giving it back twice does no harm. */
export interface LentPlace {
  release(): void;
}

/** A place for one sandbox. */
export interface Place extends LentPlace {
  /** Tells that it is given back soon, whatever happens: the request that will get it finds room in a full queue. */
  returning(): void;
}

/** A sandbox that nobody has asked for yet, in a place that nobody needs. */
interface Spare {
  readonly giveWay: () => void;
}

/**
 * Hands out the places for sandboxes: at once while there are any, else in turn from a bounded queue.
 *
 * Places are shared when several principals wait: the one that holds the fewest goes first, between equals the one that was
 * served longest ago. Alone, a principal may hold every place and fill the whole queue; when the queue is full, a request
 * of a principal with fewer waiting takes the room of the last one of whoever has the most there.
 *
 * Free places may be lent to sandboxes that wait for a request. They hold nobody up: as soon as a request needs the place,
 * it has it, and what it was lent to, the longest lent first, is told to give way.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #held = new Map<string, number>();
  readonly #maxima = new Map<string, number>();
  readonly #room = new WaitingRoom<Place>();
  readonly #spares = new Set<Spare>();
  #taken = 0;
  /** Of those taken: how many are on their way back. */
  #returning = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Places that requests hold; lent ones are not among them. */
  get taken(): number {
    return this.#taken;
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#room.size;
  }

  /** Requests of those that a place would serve which this principal gave back: its own, and of all below their maximum. */
  waitingFor(principal: string): number {
    return this.#room.count((waiter) => waiter === principal || !this.#isAtMaximum(waiter));
  }

  /** Sets how many places a principal may hold at once, for its further requests; null: as many as there are. */
  setMaximum(principal: string, maximum: number | null): void {
    if (maximum === null) this.#maxima.delete(principal);
    else this.#maxima.set(principal, maximum);
    this.#admitWaiters();
  }

  /** @throws CAPACITY with `retry_after_seconds` in its context, CANCELLED */
  async acquire(principal: string, signal?: AbortSignal): Promise<Place> {
    throwIfCancelled(signal);
    if (this.#mayTake(principal)) return this.#take(principal);
    if (this.#room.size >= this.#options.queueLimit + this.#returning) this.#pushOut(principal);
    return this.#wait(principal, signal);
  }

  /** A place for a principal that would not have to wait for one; null when it would. */
  acquireNow(principal: string): Place | null {
    return this.#mayTake(principal) ? this.#take(principal) : null;
  }

  /** Lends a place that is free while nobody waits; null when there is none. `giveWay` is called at most once. */
  lend(giveWay: () => void): LentPlace | null {
    if (this.waiting > 0 || this.#taken + this.#spares.size >= this.#options.maxSandboxes) return null;
    const spare: Spare = { giveWay };
    this.#spares.add(spare);
    return { release: () => void this.#spares.delete(spare) };
  }

  async #wait(principal: string, signal: AbortSignal | undefined): Promise<Place> {
    const { promise, resolve, reject } = Promise.withResolvers<Place>();
    const waiter: Waiter<Place> = { principal, admit: resolve, refuse: reject };
    const leave = (error: Error): void => {
      this.#room.leave(waiter);
      reject(error);
    };
    const onAbort = (): void => leave(new GloveboxError("CANCELLED", "The request was cancelled while it waited."));
    const timer = setTimeout(
      () => leave(this.#capacity(principal, `no place became free in ${this.#options.queueTimeoutMs / 1000} s`)),
      this.#options.queueTimeoutMs,
    );
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#room.enter(waiter);
    // Nobody need make room for those whose places are on their way.
    if (this.#room.size > this.#returning) this.#options.onWaiting?.();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Makes room in the full queue for a principal that uses less of it than another. @throws CAPACITY */
  #pushOut(principal: string): void {
    const last = this.#room.lastOfLongest(principal);
    if (last === null) throw this.#capacity(principal, "the queue is full");
    this.#room.leave(last);
    last.refuse(this.#capacity(last.principal, "the queue is full, where others with fewer requests go first"));
  }

  #mayTake(principal: string): boolean {
    return this.#taken < this.#options.maxSandboxes && !this.#isAtMaximum(principal);
  }

  #isAtMaximum(principal: string): boolean {
    return this.#heldBy(principal) >= (this.#maxima.get(principal) ?? Infinity);
  }

  #take(principal: string): Place {
    this.#taken += 1;
    this.#held.set(principal, this.#heldBy(principal) + 1);
    this.#room.noteServed(principal);
    this.#reclaim();
    let released = false;
    let isReturning = false;
    return {
      returning: () => {
        if (released || isReturning) return;
        isReturning = true;
        this.#returning += 1;
      },
      release: () => {
        if (released) return;
        released = true;
        if (isReturning) this.#returning -= 1;
        this.#giveBack(principal);
      },
    };
  }

  #reclaim(): void {
    const excess = this.#taken + this.#spares.size - this.#options.maxSandboxes;
    for (const spare of [...this.#spares].slice(0, Math.max(0, excess))) {
      this.#spares.delete(spare);
      spare.giveWay();
    }
  }

  #giveBack(principal: string): void {
    this.#taken -= 1;
    const held = this.#heldBy(principal) - 1;
    if (held > 0) this.#held.set(principal, held);
    else this.#held.delete(principal);
    this.#admitWaiters();
  }

  /** Taken here and now, so that no newcomer slips in before the waiter runs. */
  #admitWaiters(): void {
    for (;;) {
      const next = this.#room.next((principal) => (this.#mayTake(principal) ? this.#heldBy(principal) : null));
      if (next === null) return;
      this.#room.leave(next);
      next.admit(this.#take(next.principal));
    }
  }

  #heldBy(principal: string): number {
    return this.#held.get(principal) ?? 0;
  }

  #capacity(principal: string, why: string): GloveboxError {
    const { maxSandboxes, queueTimeoutMs } = this.#options;
    const retryAfterSeconds = Math.max(1, Math.ceil(queueTimeoutMs / 1000));
    const maximum = this.#maxima.get(principal);
    const isOwn = maximum !== undefined && this.#isAtMaximum(principal);
    const what = isOwn
      ? `The ${maximum} sandboxes that you may have at once are in use`
      : `All ${maxSandboxes} sandboxes are in use`;
    return new GloveboxError("CAPACITY", `${what} and ${why}.`, {
      context: {
        max_containers: maxSandboxes,
        ...(maximum === undefined ? {} : { max_sandboxes: maximum }),
        retry_after_seconds: retryAfterSeconds,
      },
    });
  }
}
