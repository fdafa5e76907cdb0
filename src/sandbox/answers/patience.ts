import { untilCancelled } from "../../base/abort.ts";

/**
 * How long a program may keep us waiting without transferring anything: starting a shell on an overloaded machine takes
 * 3 s.
 */
const idleMs = 30_000;
/** How much of that each transferred kibibyte gives back: the slowest engine transfers some 10 MB a second. */
const msPerKibibyte = 15;
/** How often to check whether someone is waiting. */
const tickMs = 250;

/** The time ran out before anything came. */
export class PatienceLost extends Error {}

/**
 * A limit on all waiting for one program inside a sandbox together, so that stopping it, or letting it continue one
 * byte at a time, cannot keep a caller waiting for ever. Transferred bytes earn time back; the caller's own time is not
 * counted.
 */
export class Patience {
  #leftMs = idleMs;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<() => void>();

  earn(bytes: number): void {
    this.#leftMs = Math.min(idleMs, this.#leftMs + (bytes / 1024) * msPerKibibyte);
  }

  /** @throws PatienceLost, CANCELLED, and what the promise rejects with */
  async wait<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const giveUp = (): void => reject(new PatienceLost());
    this.#waiting.add(giveUp);
    // The timer runs across waits, however short they are.
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#tick(), tickMs);
    try {
      return await untilCancelled(Promise.race([promise, late]), signal);
    } finally {
      this.#waiting.delete(giveUp);
    }
  }

  #tick(): void {
    this.#timer = undefined;
    if (this.#waiting.size === 0) return;
    this.#leftMs -= tickMs;
    if (this.#leftMs <= 0) for (const giveUp of this.#waiting) giveUp();
    else this.#timer = setTimeout(() => this.#tick(), tickMs);
  }
}
