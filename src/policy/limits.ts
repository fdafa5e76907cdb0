import { gibibyte, mebibyte } from "../base/bytes.ts";

/** What a sandbox may use. All are hard; a run that reaches one ends or is refused, never slowed silently. */
export interface Limits {
  /** CPUs' worth of time, fractions allowed. */
  readonly cpus: number;
  /** Memory of everything in the sandbox together, without swap. */
  readonly memoryBytes: number;
  /** Wall-clock time of a run; in an environment, of each command. */
  readonly timeoutMs: number;
  /** Processes and threads together (a Node process has about 11). */
  readonly pids: number;
  /** Scratch space; `divideScratch` says how it is shared out. */
  readonly diskBytes: number;
  /** Whether the request named `diskBytes`: only then does its result say where scratch is. Left out: a default. */
  readonly isDiskRequested?: true | undefined;
}

/** The limits that are numbers. */
export type NumericLimit = Exclude<keyof Limits, "isDiskRequested">;

/** Kinds of sandbox that have limits of their own, the kinds of the label `glovebox.kind`. */
export const limitKinds = ["session", "execute", "test", "preview", "environment", "agent"] as const;
export type LimitKind = (typeof limitKinds)[number];

/** Limits when neither the configuration nor the request says otherwise (SPEC LI1's table). */
export const defaultLimits: Readonly<Record<LimitKind, Limits>> = {
  session: { cpus: 2, memoryBytes: 512 * mebibyte, timeoutMs: 30_000, pids: 100, diskBytes: gibibyte },
  execute: { cpus: 1, memoryBytes: 512 * mebibyte, timeoutMs: 30_000, pids: 100, diskBytes: gibibyte },
  test: { cpus: 1, memoryBytes: 2 * gibibyte, timeoutMs: 300_000, pids: 512, diskBytes: gibibyte },
  preview: { cpus: 1, memoryBytes: gibibyte, timeoutMs: 1_800_000, pids: 512, diskBytes: gibibyte },
  environment: { cpus: 2, memoryBytes: 2 * gibibyte, timeoutMs: 120_000, pids: 512, diskBytes: 10 * gibibyte },
  agent: { cpus: 2, memoryBytes: 2 * gibibyte, timeoutMs: 1_800_000, pids: 512, diskBytes: 10 * gibibyte },
};

/** What no request may exceed when the configuration says nothing (SPEC LI1). */
export const defaultCeilings: Limits = {
  cpus: 4,
  memoryBytes: 8192 * mebibyte,
  timeoutMs: 3_600_000,
  pids: 4096,
  diskBytes: 10 * gibibyte,
};

/** The limits with each that is above its ceiling brought down to it: for defaults only, never for what was asked. */
export function withinCeilings(limits: Limits, ceilings: Limits): Limits {
  return {
    cpus: Math.min(limits.cpus, ceilings.cpus),
    memoryBytes: Math.min(limits.memoryBytes, ceilings.memoryBytes),
    timeoutMs: Math.min(limits.timeoutMs, ceilings.timeoutMs),
    pids: Math.min(limits.pids, ceilings.pids),
    diskBytes: Math.min(limits.diskBytes, ceilings.diskBytes),
  };
}
