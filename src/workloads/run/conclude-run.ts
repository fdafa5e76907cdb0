import type { Logger } from "../../base/kit.ts";
import type { ContainerStats } from "../../engines/container-stats.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import { decideOutcome, type Outcome } from "../../sandbox/outcome.ts";
import type { OpenRun } from "../../sandbox/run-record.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { NetworkReport } from "./explain-network.ts";
import { logEnding, type RunIds } from "./log-ending.ts";
import type { KeptOutput, ProcessEnd } from "./watch-process.ts";

/** A run whose process has ended, and how to learn the rest. */
export interface EndedRun<Kept extends KeptOutput> {
  readonly sandbox: Pick<Sandbox, "stats" | "state">;
  /** Told of its verdict. */
  readonly record: OpenRun;
  readonly end: ProcessEnd<Kept>;
  /**
   * Asked unless we ended the process: whether its sandbox has disappeared meanwhile, so that the exit code is not the
   * program's own whatever it says, or what the run left cannot be read.
   */
  readonly isLost: () => boolean | Promise<boolean>;
  /** Processes of the sandbox that had been killed for want of memory before; default 0, null: unknown. */
  readonly oomKillsBefore?: number | null | undefined;
  /** The peak of its own in the last numbers of a sandbox that had others before; default: the sandbox's. */
  readonly memoryPeakBytes?: ((after: ContainerStats) => number | null) | undefined;
  /** All that was refused. */
  readonly networkReport: () => Promise<NetworkReport>;
}

/** A run with everything that decides its verdict, and the verdict. */
export interface JudgedRun<Kept extends KeptOutput> {
  readonly end: ProcessEnd<Kept>;
  readonly memoryPeakBytes: number | null;
  readonly networkReport: NetworkReport;
  readonly outcome: Outcome;
  /** Whether this process had begun to remove its sandbox before that was known. */
  readonly isRemoved: boolean;
  /** See `OpenRun`. */
  readonly policyDigest: string;
}

/** A run about which nothing more can be learned. */
export interface ConcludedRun<Kept extends KeptOutput> extends JudgedRun<Kept> {
  readonly error: GloveboxError | null;
}

export interface Conclusion<Kept extends KeptOutput> {
  readonly ids: RunIds;
  readonly logger: Logger;
  /** The error that goes with the outcome, null when there is nothing to explain. */
  readonly explain: (run: JudgedRun<Kept>) => GloveboxError | null;
}

/** Reads the last numbers of a run that has ended, and judges it. */
export async function judgeRun<Kept extends KeptOutput>(run: EndedRun<Kept>): Promise<JudgedRun<Kept>> {
  const { sandbox, record, oomKillsBefore = 0 } = run;
  const isRemoved = sandbox.state !== "running";
  const after = await sandbox.stats();
  const memoryPeakBytes = run.memoryPeakBytes === undefined ? after.memoryPeakBytes : run.memoryPeakBytes(after);
  const networkReport = await run.networkReport();
  const end = run.end.interruption === null && (await run.isLost()) ? lost(run.end) : run.end;
  const oomKills = oomKillsBetween(oomKillsBefore, after.oomKills);
  const outcome = decideOutcome({ ...end, oomKills, refusals: networkReport.denialCount });
  record.end({ outcome, exitCode: end.exitCode, durationMs: end.durationMs, errorType: null });
  return { end, memoryPeakBytes, networkReport, outcome, isRemoved, policyDigest: record.policyDigest };
}

/** Explains a run and writes its closing line to the log. */
export function concludeRun<Kept extends KeptOutput>(
  run: JudgedRun<Kept>,
  { ids, logger, explain }: Conclusion<Kept>,
): ConcludedRun<Kept> {
  const error = explain(run);
  logEnding(logger, { ids, ...run });
  return { ...run, error };
}

function lost<Kept extends KeptOutput>(end: ProcessEnd<Kept>): ProcessEnd<Kept> {
  return { ...end, exitCode: null, interruption: "lost" };
}

/** Processes killed for want of memory during a run; null when that is unknown. */
function oomKillsBetween(before: number | null, after: number | null): number | null {
  if (after === null) return null;
  // Where kills are not counted, an out-of-memory end of the whole sandbox still counts.
  return after - (before ?? 0);
}
