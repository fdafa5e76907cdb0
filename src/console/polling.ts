import { ApiFailure } from "./api-failure.ts";

export interface PollOptions {
  readonly eachMs: number;
  /** Receives why a turn failed; null when one succeeds. */
  readonly onFailure: (failure: ApiFailure | null) => void;
}

const longestWaitMs = 30_000;

/**
 * Asks again and again until the returned function is called, or the work says that it is done. While nobody sees the page
 * it waits; after a failure it waits longer, and as long as the server says.
 */
export function poll(work: (signal: AbortSignal) => Promise<boolean>, { eachMs, onFailure }: PollOptions): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const run = async (): Promise<void> => {
    let failures = 0;
    while (!signal.aborted) {
      await untilVisible(signal);
      if (signal.aborted) return;
      let waitMs = eachMs;
      try {
        const isDone = await work(signal);
        if (signal.aborted) return;
        failures = 0;
        onFailure(null);
        if (isDone) return;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ApiFailure)) throw error;
        onFailure(error);
        if (error.status === 401) return;
        failures += 1;
        waitMs = Math.min(longestWaitMs, (error.retryAfterSeconds ?? 0) * 1_000 + eachMs * 2 ** Math.min(failures, 4));
      }
      await pause(waitMs, signal);
    }
  };
  void run();
  return () => stop.abort();
}

/** Resolves after so long, or when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}

async function untilVisible(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === "visible" || signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  document.addEventListener("visibilitychange", () => resolve(), { once: true });
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
}
