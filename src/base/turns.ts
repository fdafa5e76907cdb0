import { cancelled } from "./abort.ts";

/** Lets one after another have its turn, in the order in which they came. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  /** Whether nobody has the turn. */
  get isFree(): boolean {
    return !this.#taken;
  }

  /** How many wait for it. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves when it is the caller's turn, to what ends it; ending it twice does no harm. @throws CANCELLED */
  async take(signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) throw cancelled(signal.reason);
    if (this.#taken) await this.#wait(signal);
    this.#taken = true;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      const next = this.#waiting.shift();
      // Stays taken while it passes on, so that no newcomer slips in.
      if (next === undefined) this.#taken = false;
      else next();
    };
  }

  /** Does the work when it is its turn, which ends with the work, however that ends. @throws CANCELLED, what the work throws */
  async during<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const end = await this.take(signal);
    try {
      return await work();
    } finally {
      end();
    }
  }

  async #wait(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => {
      const index = this.#waiting.indexOf(resolve);
      if (index < 0) return;
      this.#waiting.splice(index, 1);
      reject(cancelled(signal?.reason));
    };
    this.#waiting.push(resolve);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }
}
