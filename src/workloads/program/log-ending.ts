import type { Logger } from "../../base/logger.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import type { NetworkReport } from "./explain-network.ts";
import type { ProgramEnd } from "./run-program.ts";

export interface EndingToLog {
  readonly sandboxId: string;
  readonly outcome: Outcome;
  readonly end: Pick<ProgramEnd, "exitCode" | "durationMs">;
  readonly networkReport: NetworkReport;
}

/** One line of the log for a run that has ended, with the first of the connections that it was refused (SPEC LG3). */
export function logEnding(logger: Logger, { sandboxId, outcome, end, networkReport }: EndingToLog): void {
  const { denials, denialCount } = networkReport;
  const refused = denials.map(({ rule, target }) => ({ rule, target }));
  logger.info(
    {
      sandbox: sandboxId,
      outcome,
      exitCode: end.exitCode,
      durationMs: end.durationMs,
      ...(denialCount === 0 ? {} : { refusedCount: denialCount, refused }),
    },
    "run ended",
  );
}
