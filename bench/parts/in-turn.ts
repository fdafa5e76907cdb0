import { setTimeout as sleep } from "node:timers/promises";
import type { LeftOut } from "./report.ts";

/** One way of doing the thing that is measured. */
export interface Subject {
  readonly name: string;
  /** Makes it ready; not timed. */
  readonly prepare?: (() => Promise<unknown>) | undefined;
  readonly run: () => Promise<unknown>;
  /** Takes away what a run has left; not timed. */
  readonly end?: (() => Promise<unknown>) | undefined;
  /** Not timed, after each run: what it left to the background must not burden the next subject. Default 0. */
  readonly settleMs?: number | undefined;
}

export interface Times {
  readonly timesMs: ReadonlyMap<string, readonly number[]>;
  readonly leftOut: readonly LeftOut[];
}

/**
 * Times each subject so many rounds, all in turn, so that the machine's mood hits them alike. A first round warms up;
 * a subject that fails in it is left out, and one that fails later ends the benchmark.
 */
export async function timeInTurn(subjects: readonly Subject[], rounds: number): Promise<Times> {
  const timesMs = new Map<string, number[]>();
  const leftOut: LeftOut[] = [];
  for (const { name, prepare, run, end, settleMs = 0 } of subjects) {
    try {
      await prepare?.();
      await run();
      await end?.();
      await sleep(settleMs);
      timesMs.set(name, []);
    } catch (error) {
      leftOut.push({ name, reason: firstLine(error) });
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, prepare, run, end, settleMs = 0 } of subjects) {
      const times = timesMs.get(name);
      if (times === undefined) continue;
      await prepare?.();
      const startedMs = performance.now();
      await run();
      times.push(performance.now() - startedMs);
      await end?.();
      await sleep(settleMs);
    }
  }
  return { timesMs, leftOut };
}

/** Why something failed, without what is this machine's own. */
export function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line.replaceAll(/\/[\w./-]+/g, "PATH");
}
