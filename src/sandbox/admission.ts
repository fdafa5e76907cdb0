import { throwIfCancelled } from "../base/abort.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";

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

/** A place for one sandbox; giving it back twice does no harm. */
export interface Place {
  release(): void;
}

interface Waiter {
  readonly principal: string;
  admit(place: Place): void;
}

/**
 * Hands out the places for sandboxes: at once while there are any, else in turn from a bounded queue.
 * Of those who wait, the principal that holds the fewest places goes first; between equals, who came first.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #held = new Map<string, number>();
  readonly #waiting: Waiter[] = [];
  #taken = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** @throws CAPACITY with `retry_after_seconds` in its context, CANCELLED */
  async acquire(principal: string, signal?: AbortSignal): Promise<Place> {
    throwIfCancelled(signal);
    if (this.#taken < this.#options.maxSandboxes) return this.#take(principal);
    if (this.#waiting.length >= this.#options.queueLimit) throw this.#capacity("the queue is full");
    return this.#wait(principal, signal);
  }

  async #wait(principal: string, signal: AbortSignal | undefined): Promise<Place> {
    const { promise, resolve, reject } = Promise.withResolvers<Place>();
    const waiter: Waiter = { principal, admit: resolve };
    const leave = (error: Error): void => {
      const index = this.#waiting.indexOf(waiter);
      if (index >= 0) this.#waiting.splice(index, 1);
      reject(error);
    };
    const onAbort = (): void => leave(new GloveboxError("CANCELLED", "The request was cancelled while it waited."));
    const timer = setTimeout(
      () => leave(this.#capacity(`no place became free in ${this.#options.queueTimeoutMs / 1000} s`)),
      this.#options.queueTimeoutMs,
    );
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#waiting.push(waiter);
    this.#options.onWaiting?.();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  #take(principal: string): Place {
    this.#taken += 1;
    this.#held.set(principal, this.#heldBy(principal) + 1);
    let released = false;
    return {
      release: () => {
        if (released) return;
        released = true;
        this.#giveBack(principal);
      },
    };
  }

  #giveBack(principal: string): void {
    this.#taken -= 1;
    const held = this.#heldBy(principal) - 1;
    if (held > 0) this.#held.set(principal, held);
    else this.#held.delete(principal);
    const next = this.#nextWaiter();
    if (next === undefined) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    // Taken here and now, so that no newcomer slips in before the waiter runs.
    next.admit(this.#take(next.principal));
  }

  #nextWaiter(): Waiter | undefined {
    let best: Waiter | undefined;
    for (const waiter of this.#waiting) {
      if (best === undefined || this.#heldBy(waiter.principal) < this.#heldBy(best.principal)) best = waiter;
    }
    return best;
  }

  #heldBy(principal: string): number {
    return this.#held.get(principal) ?? 0;
  }

  #capacity(why: string): GloveboxError {
    const { maxSandboxes, queueTimeoutMs } = this.#options;
    const retryAfterSeconds = Math.max(1, Math.ceil(queueTimeoutMs / 1000));
    return new GloveboxError("CAPACITY", `All ${maxSandboxes} sandboxes are in use and ${why}.`, {
      context: { max_containers: maxSandboxes, retry_after_seconds: retryAfterSeconds },
    });
  }
}
