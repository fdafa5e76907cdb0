import { setTimeout as sleep } from "node:timers/promises";
import type { LeftOut } from "./report.ts";

/** One way of doing what is measured. */
export interface Subject {
  readonly name: string;
  /** Prepares a run; not timed. */
  readonly prepare?: (() => Promise<unknown>) | undefined;
  readonly run: () => Promise<unknown>;
  /** Cleans up after a run; not timed. */
  readonly end?: (() => Promise<unknown>) | undefined;
  /** Pause after each run, not timed: its background work must not slow the next subject down. Default 0. */
  readonly settleMs?: number | undefined;
}

export interface Times {
  readonly timesMs: ReadonlyMap<string, readonly number[]>;
  readonly leftOut: readonly LeftOut[];
}

/**
 * Times each subject for this many rounds, all in turn, so that the machine's ups and downs affect them equally. A first
 * round warms up; a subject that fails in it is left out, and one that fails later ends the benchmark.
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

/** Why something failed, without details of this machine. */
export function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line.replaceAll(/\/[\w./-]+/g, "PATH");
}
