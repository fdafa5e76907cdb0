/** The results of work that many workers did at the same time. */
export interface Load {
  readonly done: number;
  readonly perSecond: number;
}

/** Runs this many workers, each repeating the work for that long; work that has begun by then is finished and counts. */
export async function sustain(work: () => Promise<unknown>, workers: number, forMs: number): Promise<Load> {
  const startedMs = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (performance.now() - startedMs < forMs) {
        await work();
        done += 1;
      }
    }),
  );
  return { done, perSecond: done / ((performance.now() - startedMs) / 1_000) };
}

/** Begins all at once: when each was done, in milliseconds since the start, and how many failed. */
export async function burst(
  work: () => Promise<unknown>,
  count: number,
): Promise<{ readonly doneMs: readonly number[]; readonly failed: number }> {
  const startedMs = performance.now();
  const ends = await Promise.allSettled(
    Array.from({ length: count }, async () => {
      await work();
      return performance.now() - startedMs;
    }),
  );
  const doneMs = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
  return { doneMs, failed: count - doneMs.length };
}
