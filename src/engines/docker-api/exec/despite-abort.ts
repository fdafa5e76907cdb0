/** How long an engine may take to answer a call that was given up. */
const answerMs = 10_000;

/**
 * Runs work that continues when its caller gives it up, so that its result is not lost. `work`'s own signal aborts only
 * when the engine does not answer within 10 s after that.
 */
export async function despiteAbort<T>(
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const giveUp = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => giveUp.abort(), answerMs);
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await work(giveUp.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
