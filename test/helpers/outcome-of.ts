/** What a promise rejects with, or that it did not: to be expected with an assertion of its own. */
export function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "it was done",
    (error: unknown) => error,
  );
}
