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
