/** Callers that wait for the same thing, each for a time of its own. */
export class Waiting {
  readonly #waiting = new Set<() => void>();

  /** Resolves at the next `release`, after the given time in milliseconds or when the signal aborts. */
  async wait(withinMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, withinMs);
    const give = (): void => resolve();
    this.#waiting.add(give);
    signal?.addEventListener("abort", give, { once: true });
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(give);
    signal?.removeEventListener("abort", give);
  }

  release(): void {
    for (const give of this.#waiting) give();
  }
}
