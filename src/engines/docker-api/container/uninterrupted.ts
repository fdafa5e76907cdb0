import { cancelled, settlesWithin, throwIfCancelled, untilCancelled } from "../../../base/abort.ts";

/** How long an engine may take to answer a call that was given up, before the caller is told anyway. */
const answerMs = 10_000;

/**
 * Runs a call that an engine goes on with even when its request is broken off, so it is never broken off.
 * Given up, the call's answer is awaited and undone, and then the caller is told: nothing is left behind.
 * An engine that does not answer in time is left behind itself; the undoing still follows its answer.
 * @throws CANCELLED
 */
export async function uninterrupted<T>(
  begin: () => Promise<T>,
  undo: (result: T) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<T> {
  throwIfCancelled(signal);
  const begun = begin();
  try {
    return await untilCancelled(begun, signal);
  } catch (error) {
    if (signal?.aborted !== true) throw error;
    const undone = begun.then(undo);
    await settlesWithin(undone, answerMs);
    throw cancelled(signal.reason);
  }
}
