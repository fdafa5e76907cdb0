import { untilCancelled } from "../../base/abort.ts";

/** How long a program may keep us waiting without moving anything: starting a shell on an overloaded machine takes 3 s. */
const idleMs = 30_000;
/** What each kibibyte that it moves gives back of that: the slowest engine moves some 10 MB a second. */
const msPerKibibyte = 15;
/** How often it is looked whether somebody waits. */
const tickMs = 250;

/** The time was over before anything came. */
export class PatienceLost extends Error {}

/**
 * How long all waiting for one program inside a sandbox may take together, so that nothing that stops it, or lets it go on
 * by single bytes, keeps a caller waiting for ever. Bytes that it moves earn time back; the caller's own time is not counted.
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
    // One that goes on from wait to wait, however short they are.
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
