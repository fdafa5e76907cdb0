import { GloveboxError } from "../errors/glovebox-error.ts";

/**
 * A token bucket: it holds a minute's requests and refills evenly, so that bursts after a pause are possible while the
 * average rate stays the same.
 */
export class RequestRate {
  readonly #perMinute: number;
  readonly #monotonicMs: () => number;
  #tokens: number;
  #filledAtMs: number;

  constructor(perMinute: number, monotonicMs: () => number) {
    this.#perMinute = perMinute;
    this.#monotonicMs = monotonicMs;
    this.#tokens = perMinute;
    this.#filledAtMs = monotonicMs();
  }

  /** Counts one request. @throws CAPACITY with `retry_after_seconds` in its context */
  take(): void {
    const nowMs = this.#monotonicMs();
    const perMs = this.#perMinute / 60_000;
    this.#tokens = Math.min(this.#perMinute, this.#tokens + (nowMs - this.#filledAtMs) * perMs);
    this.#filledAtMs = nowMs;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return;
    }
    const retryAfterSeconds = Math.ceil((1 - this.#tokens) / perMs / 1000);
    throw new GloveboxError("CAPACITY", `Your API key has used up its ${this.#perMinute} requests per minute.`, {
      suggestion: "Wait for the given time and retry, or ask the operator for a key with a higher rate.",
      context: { requests_per_minute: this.#perMinute, retry_after_seconds: retryAfterSeconds },
    });
  }
}
