import { untilCancelled } from "../../base/abort.ts";

/** How long a program may keep us waiting without moving anything: starting a shell on an overloaded machine takes 3 s. */
const idleMs = 30_000;
/** What each kibibyte that it moves gives back of that: the slowest engine moves some 10 MB a second. */
const msPerKibibyte = 15;

/** The time was over before anything came. */
export class PatienceLost extends Error {}

/**
 * How long all waiting for one program inside a sandbox may take together, so that nothing that stops it, or lets it go on
 * by single bytes, keeps a caller waiting for ever. Bytes that it moves earn time back; the caller's own time is not counted.
 */
export class Patience {
  #leftMs = idleMs;

  earn(bytes: number): void {
    this.#leftMs = Math.min(idleMs, this.#leftMs + (bytes / 1024) * msPerKibibyte);
  }

  /** @throws PatienceLost, CANCELLED, and what the promise rejects with */
  async wait<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const begun = performance.now();
    const timer = setTimeout(() => reject(new PatienceLost()), Math.max(this.#leftMs, 0));
    try {
      return await untilCancelled(Promise.race([promise, late]), signal);
    } finally {
      clearTimeout(timer);
      this.#leftMs -= performance.now() - begun;
    }
  }
}
