import type { outcomes } from "../operations/contract/wire-values.ts";

/** How a run ended: exactly one of these for every run (SPEC EX1). */
export type Outcome = (typeof outcomes)[number];

/** Why the platform ended a run early; null if it ended by itself. */
export type Interruption = "timeout" | "cancel" | "lost" | null;

/** What happened before anything else did. */
export interface FirstCause {
  readonly interruption: Interruption;
  /** Null if the sandbox disappeared before reporting it. */
  readonly exitCode: number | null;
}

/** What decides the verdict of a run. */
export interface Ending extends FirstCause {
  /** Processes that the kernel killed for lack of memory; null if unknown. */
  readonly oomKills: number | null;
  /** Connections that the network policy refused. */
  readonly refusals?: number | undefined;
}

/**
 * The one verdict of a run. An out-of-memory kill that the program survived with exit code 0 is a completed run: the
 * program handled it. So is one that continues after a refused connection.
 */
export function decideOutcome({ interruption, exitCode, oomKills, refusals = 0 }: Ending): Outcome {
  if (interruption === "timeout") return "timed_out";
  if (interruption === "cancel") return "cancelled";
  // Under some runtimes, running out of memory ends the whole sandbox.
  if (interruption === "lost" || exitCode === null) return (oomKills ?? 0) > 0 ? "oom_killed" : "sandbox_lost";
  if (exitCode === 0) return "completed";
  if ((oomKills ?? 0) > 0) return "oom_killed";
  return refusals > 0 ? "policy_denied" : "failed";
}
