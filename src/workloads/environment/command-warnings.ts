import type { JudgedRun } from "../run/conclude-run.ts";
import { networkWarnings } from "../run/explain-network.ts";
import { secretWarnings } from "../run/explain-secrets.ts";
import type { KeptOutput } from "../run/watch-process.ts";
import type { EnvironmentContainer } from "./environment-container.ts";
import type { Started } from "./environment-parts.ts";
import { setuidWarnings } from "./explain-command.ts";
import { lockedPaths, lockWarnings } from "./explain-locks.ts";
import { toolingWarnings, type ToolingReport } from "../run/explain-tooling.ts";

/** The warning for a caller that knows another container. */
export const replacedWarning =
  "The environment has a new container: files outside /workdir are as they were at the start, and its background processes have ended.";

export interface EndedCommand {
  readonly judged: JudgedRun<KeptOutput>;
  /** Whether its container differs from the one the caller knows, or has been replaced since. */
  readonly isElsewhere: boolean;
  readonly tooling: ToolingReport;
  readonly locks: EnvironmentContainer["locks"];
  readonly setuidCount: number;
  readonly redaction: Started["redaction"];
}

/** What the caller of a command should know in addition to its result, one sentence each. */
export function commandWarnings(command: EndedCommand): readonly string[] {
  const { judged, isElsewhere, tooling, locks, setuidCount, redaction } = command;
  const { end } = judged;
  return [
    ...(isElsewhere ? [replacedWarning] : []),
    ...networkWarnings(judged.networkReport, judged.outcome),
    ...toolingWarnings(tooling),
    ...lockWarnings(lockedPaths(locks), `${end.stdout.text()}\n${end.stderr.text()}`),
    ...setuidWarnings(setuidCount),
    ...secretWarnings(redaction),
  ];
}
