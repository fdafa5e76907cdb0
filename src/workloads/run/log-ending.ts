import type { Logger } from "../../base/kit.ts";
import type { ErrorType } from "../../errors/catalogue.ts";
import { toGloveboxError } from "../../errors/glovebox-error.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import type { OpenRun } from "../../sandbox/run-record.ts";
import type { NetworkReport } from "./explain-network.ts";
import type { ProcessEnd, KeptOutput } from "./watch-process.ts";

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

export interface EndingToLog {
  readonly ids: RunIds;
  readonly outcome: Outcome;
  readonly end: Pick<ProcessEnd<KeptOutput>, "exitCode" | "durationMs">;
  readonly networkReport: Pick<NetworkReport, "denials" | "denialCount">;
}

/** One line of the log for a run that has ended, with the first of the connections that it was refused (SPEC LG3). */
export function logEnding(logger: Logger, { ids, outcome, end, networkReport }: EndingToLog): void {
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

function idsToLog({ id: _, record, ...ids }: RunIds): Readonly<Record<string, unknown>> {
  return record === undefined ? ids : { ...ids, run: record.id, policy: record.policyDigest };
}

/** The verdict on a run that has no result, by its error; any other error: failed. */
const outcomes: Readonly<Partial<Record<ErrorType, Outcome>>> = {
  CANCELLED: "cancelled",
  POLICY_DENIED: "policy_denied",
  SANDBOX_LOST: "sandbox_lost",
  ENGINE_UNAVAILABLE: "sandbox_lost",
};
