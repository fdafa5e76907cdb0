import { GloveboxError } from "../errors/glovebox-error.ts";

/** The error for work that its caller gave up. */
export function cancelled(cause?: unknown): GloveboxError {
  return new GloveboxError("CANCELLED", "The request was cancelled.", { cause });
}

/** @throws CANCELLED when the signal is aborted already */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw cancelled(signal.reason);
}

/**
 * The promise's result, or CANCELLED as soon as the signal aborts.
 * The work behind the promise must watch the signal by itself; its late failure is not reported again.
 */
export async function untilCancelled<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(cancelled(signal.reason));
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    promise.catch(() => {
      // The waiting code has already received the cancellation.
    });
  }
}

/** Resolves true when the promise settles within the time, false when the time passes first. */
export async function settlesWithin(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(resolve, milliseconds, false);
  try {
    return await Promise.race([
      promise.then(
        () => true,
        () => true,
      ),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The work's result, or that error if it does not come in time; the work's signal then aborts, and the work is not
 * awaited.
 */
export async function withinMs<T>(
  milliseconds: number,
  lateError: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const done = work(late.signal);
  done.catch(() => {
    // Told below, unless it comes too late.
  });
  if (await settlesWithin(done, milliseconds)) return done;
  late.abort();
  throw lateError();
}

/**
 * A time limit for work that usually ends long before: disposed of with the work, where `AbortSignal.timeout` would hold
 * its timer, and each signal made from it, until the time is over. It keeps no process alive.
 */
export class Deadline implements Disposable {
  /** Aborts, with a `TimeoutError` as its reason, when the time is over; never after `dispose`. */
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  constructor(milliseconds: number) {
    const late = new AbortController();
    this.signal = late.signal;
    const reason = (): DOMException => new DOMException(`not done within ${milliseconds} ms`, "TimeoutError");
    this.#timer = setTimeout(() => late.abort(reason()), milliseconds);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
