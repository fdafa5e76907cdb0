/** How long the server may take to end a run and answer before the connection is closed. */
const endWithinMs = 10_000;

/** One run on a server. */
export interface RunOnServer<Answer> {
  /**
   * Asks for it and reads its answer. `onBegun` receives the run's id, once it has one; null: the server does not say.
   * The signal ends the connection.
   */
  readonly run: (signal: AbortSignal, onBegun: (id: string | null) => void) => Promise<Answer>;
  /** Asks the server to end it, and to keep its result. */
  readonly end: (id: string, signal: AbortSignal) => Promise<unknown>;
}

/**
 * The answer of a run. If its caller gives up, the server ends the run and its answer is still read: as in one's own
 * process, a program that was cancelled is a result, with what it had written. Only if the answer does not come within
 * 10 s does the connection end.
 */
export async function withGivingUp<Answer>(giveUp: AbortSignal, { run, end }: RunOnServer<Answer>): Promise<Answer> {
  const connection = new AbortController();
  const hangUp = (): void => connection.abort(giveUp.reason);
  let late: ReturnType<typeof setTimeout> | undefined;
  let begun: string | null | undefined;
  const endIt = (): void => {
    late ??= setTimeout(hangUp, endWithinMs);
    if (begun === null) hangUp();
    else if (begun !== undefined) end(begun, connection.signal).catch(hangUp);
  };
  giveUp.addEventListener("abort", endIt, { once: true });
  if (giveUp.aborted) hangUp();
  try {
    return await run(connection.signal, (id) => {
      begun = id;
      if (giveUp.aborted) endIt();
    });
  } finally {
    giveUp.removeEventListener("abort", endIt);
    clearTimeout(late);
  }
}
