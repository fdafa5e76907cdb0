/** What a promise rejects with, or that it did not reject; the caller asserts on it. */
export function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "it was done",
    (error: unknown) => error,
  );
}
