import type { Logger } from "../../base/logger.ts";
import type { ErrorType } from "../../errors/catalogue.ts";
import { toGloveboxError, isSandboxLoss, type GloveboxError } from "../../errors/glovebox-error.ts";
import { decideOutcome, type Outcome } from "../../sandbox/outcome.ts";
import type { OpenRun } from "../../sandbox/run-record.ts";
import type { NetworkReport } from "./network-report.ts";
import type { ProcessEnd, KeptOutput } from "./watch-process.ts";
import type { ContainerStats } from "../../engines/container-stats.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { CallOptions } from "../../engines/engine.ts";

/** Whose run it is and where, as far as it is known yet. */
export interface RunIds {
  /** Of the run itself, where its caller knows it already. */
  readonly id?: string | undefined;
  readonly principal: string;
  readonly session?: string;
  readonly environment?: string;
  /** Left out until there is one. */
  sandbox?: string;
  /** The same. */
  record?: OpenRun;
}

/** One line of the log for a run that has ended, with the first of the connections that it was refused (SPEC LG3). */
function logEnding(logger: Logger, ids: RunIds, { outcome, end, networkReport }: JudgedRun<KeptOutput>): void {
  const { denials, denialCount } = networkReport;
  const refused = denials.map(({ rule, target }) => ({ rule, target }));
  logger.info(
    {
      ...idsToLog(ids),
      outcome,
      exitCode: end.exitCode,
      durationMs: end.durationMs,
      ...(denialCount === 0 ? {} : { refusedCount: denialCount, refused }),
    },
    "run ended",
  );
}

/** Does the work of a run; if that throws, writes the line that `logEnding` would have written, and throws it on. */
export async function loggingFailure<T>(logger: Logger, ids: RunIds, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const { errorType, message: reason } = toGloveboxError(thrown);
    const outcome = outcomes[errorType] ?? "failed";
    ids.record?.end({ outcome, exitCode: null, durationMs: null, errorType });
    logger.info({ ...idsToLog(ids), outcome, exitCode: null, errorType, reason }, "run ended");
    throw thrown;
  }
}

/** The verdict on a run that has no result, by its error; any other error: failed. */
const outcomes: Readonly<Partial<Record<ErrorType, Outcome>>> = {
  CANCELLED: "cancelled",
  POLICY_DENIED: "policy_denied",
  SANDBOX_LOST: "sandbox_lost",
  ENGINE_UNAVAILABLE: "sandbox_lost",
};

/** A run whose process has ended, and how to learn the rest. */
interface EndedRun<Kept extends KeptOutput> {
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

interface Conclusion<Kept extends KeptOutput> {
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

/** Writes the closing line of a run to the log, and explains it: null when there is nothing to explain. */
export function concludeRun<Kept extends KeptOutput>(
  run: JudgedRun<Kept>,
  { ids, logger, explain }: Conclusion<Kept>,
): GloveboxError | null {
  const error = explain(run);
  logEnding(logger, ids, run);
  return error;
}

/**
 * What is read from a sandbox; null when that ends meanwhile. The helper that reads dies with it, which can look as if
 * there were less to read. @throws as `read`, and CANCELLED
 */
export async function unlessLost<T>(
  sandbox: Pick<Sandbox, "isAlive">,
  read: Promise<T>,
  options: CallOptions,
): Promise<T | null> {
  try {
    const found = await read;
    return (await sandbox.isAlive(options)) ? found : null;
  } catch (error) {
    if (isSandboxLoss(error)) return null;
    throw error;
  }
}

function idsToLog({ id: _, record, ...ids }: RunIds): Readonly<Record<string, unknown>> {
  return record === undefined ? ids : { ...ids, run: record.id, policy: record.policyDigest };
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
