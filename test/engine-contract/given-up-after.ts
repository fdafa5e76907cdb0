import { setTimeout as sleep } from "node:timers/promises";
import { failureOf } from "../helpers/failure-of.ts";

/** Delays after which a call is cancelled, from none to about its whole duration. */
export const momentsMs: readonly number[] = [0, 1, 5, 20, 60, 150];

/** Starts the work and cancels it after this long; null if the work was done by then, else its failure. */
export async function givenUpAfter<T>(
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const controller = new AbortController();
  const working = work(controller.signal);
  const settled = working.catch(() => undefined);
  if (milliseconds > 0) await sleep(milliseconds);
  controller.abort();
  await settled;
  const result = await Promise.allSettled([working]);
  if (result[0].status === "fulfilled") return result[0].value;
  await failureOf(working, "CANCELLED");
  return null;
}
