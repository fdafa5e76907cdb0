import { setTimeout as sleep } from "node:timers/promises";
import type { LeftOut } from "./report.ts";

/** One way of doing what is measured. */
export interface Subject {
  readonly name: string;
  /** Prepares a run; not timed. */
  readonly prepare?: (() => Promise<unknown>) | undefined;
  /** Timed until it resolves, unless that is to a `TimedInside`, which counts instead. */
  readonly run: () => Promise<unknown>;
  /** Cleans up after a run; not timed. */
  readonly end?: (() => Promise<unknown>) | undefined;
  /** Pause after each run, not timed: its background work must not slow the next subject down. Default 0. */
  readonly settleMs?: number | undefined;
}

/** The time that a subject took as it was measured where it ran. */
interface TimedInside {
  readonly tookMs: number;
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
      const done = await run();
      const tookMs = performance.now() - startedMs;
      times.push(isTimedInside(done) ? done.tookMs : tookMs);
      await end?.();
      await sleep(settleMs);
    }
  }
  return { timesMs, leftOut };
}

function isTimedInside(done: unknown): done is TimedInside {
  return typeof done === "object" && done !== null && "tookMs" in done && typeof done.tookMs === "number";
}

/** Why something failed, without details of this machine. */
export function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line.replaceAll(/\/[\w./-]+/g, "PATH");
}
