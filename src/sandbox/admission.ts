import { throwIfCancelled } from "../base/abort.ts";
import { Kept } from "../base/kept.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";

/** One waiting request. */
interface Waiter<Admitted> {
  readonly principal: string;
  admit(admitted: Admitted): void;
  refuse(error: Error): void;
}

/** For how many principals the time of service is remembered; the oldest is forgotten first. */
const maxRemembered = 1000;

/** The waiting requests, by principal in order of arrival, and which one is next. */
class WaitingRoom<Admitted> {
  readonly #queues = new Map<string, Waiter<Admitted>[]>();
  /** When each principal was last served, the longest ago first. */
  readonly #served = new Kept<number>({ max: maxRemembered });
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
    this.#served.set(principal, (this.#turns += 1));
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

/** Limits on live sandboxes and on the queue for them (SPEC LI4). */
export interface AdmissionOptions {
  /** Maximum live sandboxes. */
  readonly maxSandboxes: number;
  /** Maximum requests in the queue; further ones are refused immediately. */
  readonly queueLimit: number;
  /** How long a request may wait before it is refused. */
  readonly queueTimeoutMs: number;
  /** Called when another request starts to wait, so that others can make room for it. */
  readonly onWaiting?: (() => void) | undefined;
}

/** A slot that is released at some point; releasing it twice is harmless. */
export interface LentPlace {
  release(): void;
}

/** A slot for one sandbox. */
export interface Place extends LentPlace {
  /**
   * Announces that it will certainly be released soon: the request that will get it is accepted even if the queue is
   * full.
   */
  returning(): void;
}

/** A sandbox that has not been requested yet, in a slot that no request needs. */
interface Spare {
  readonly giveWay: () => void;
}

/**
 * Hands out the slots for sandboxes: immediately while some are free, else through a bounded queue.
 *
 * If several principals wait, the one that holds the fewest slots goes first; among equals, the one that was served
 * longest ago. A principal on its own may hold every slot and fill the whole queue; if the queue is full, a request of
 * a principal with fewer waiting displaces the last one of the principal with the most.
 *
 * Free slots may be lent to sandboxes that are started ahead of requests. They delay no request: as soon as one needs
 * the slot, it gets it, and the sandbox that has been there longest is told to give way.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #held = new Map<string, number>();
  readonly #maxima = new Map<string, number>();
  readonly #room = new WaitingRoom<Place>();
  readonly #spares = new Set<Spare>();
  #taken = 0;
  /** How many of the taken ones are being released. */
  #returning = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Slots held by requests, without lent ones. */
  get taken(): number {
    return this.#taken;
  }

  /** Waiting requests. */
  get waiting(): number {
    return this.#room.size;
  }

  /**
   * Requests that could get a slot released by this principal: its own, and those of principals below their maximum.
   */
  waitingFor(principal: string): number {
    return this.#room.count((waiter) => waiter === principal || !this.#isAtMaximum(waiter));
  }

  /** Sets how many slots a principal may hold at a time, for its further requests; null: no limit of its own. */
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

  /** A slot if the principal need not wait for one, else null. */
  acquireNow(principal: string): Place | null {
    return this.#mayTake(principal) ? this.#take(principal) : null;
  }

  /** Lends a free slot if no request is waiting; null if there is none. `giveWay` is called at most once. */
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
    // Requests whose slots are already being released need nobody to make room.
    if (this.#room.size > this.#returning) this.#options.onWaiting?.();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Makes room in a full queue for a principal that uses less of it than another. @throws CAPACITY */
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

  /** Taken synchronously, so that no newcomer slips in before the waiter runs. */
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
