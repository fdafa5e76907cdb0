import { formatBytes } from "../../base/bytes.ts";
import { formatDuration } from "../../base/duration.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import type { Limits } from "../../policy/limits/limits.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import { explainFailure } from "./explain-failure.ts";
import { explainDenials, explainLostProxy, type NetworkReport } from "./explain-network.ts";
import type { Toolchain } from "../program/languages.ts";
import type { ProgramEnd } from "./run-program.ts";
import type { RunnerFile } from "../program/runner-job.ts";
import { findSyntaxError } from "../program/syntax/syntax-error.ts";
import { syntaxFailure } from "../program/syntax/syntax-failure.ts";

export interface EndingToExplain {
  readonly outcome: Outcome;
  readonly toolchain: Toolchain;
  readonly end: ProgramEnd;
  readonly limits: Limits;
  readonly memoryPeakBytes: number | null;
  readonly files: readonly RunnerFile[];
  readonly network: NetworkPolicy;
  readonly networkReport: NetworkReport;
  /** Default `/work`. */
  readonly folder?: string | undefined;
}

/** The error that goes with an outcome (SPEC ER3), or null when there is nothing to explain. */
export function explainEnding(ending: EndingToExplain): GloveboxError | null {
  const { outcome, end, limits } = ending;
  switch (outcome) {
    case "completed":
      return null;
    case "policy_denied":
      return explainDenials(ending.networkReport);
    case "failed": {
      if (ending.networkReport.isLost) return explainLostProxy();
      const stderr = end.stderr.text();
      const found = findSyntaxError({
        toolchain: ending.toolchain,
        stderr,
        exitCode: end.exitCode ?? 0,
        files: ending.files,
        folder: ending.folder,
      });
      return found === null ? explainFailure(stderr, ending.network.kind) : syntaxFailure(found);
    }
    case "timed_out":
      return new GloveboxError("TIMEOUT", `The program was ended after ${formatDuration(limits.timeoutMs)}.`, {
        context: { timeout_seconds: limits.timeoutMs / 1000, retryable: false },
      });
    case "oom_killed":
      return outOfMemory(limits.memoryBytes, ending.memoryPeakBytes);
    case "cancelled":
      return new GloveboxError("CANCELLED", "The run was cancelled.", { context: { retryable: true } });
    case "sandbox_lost":
      return new GloveboxError("SANDBOX_LOST", "The sandbox went away while the program ran.", {
        context: { retryable: true },
      });
  }
}

function outOfMemory(limitBytes: number, peakBytes: number | null): GloveboxError {
  const peak = peakBytes === null ? "" : ` The highest use seen was ${formatBytes(peakBytes)}.`;
  return new GloveboxError("OOM_KILLED", `The program ran out of its ${formatBytes(limitBytes)} of memory.${peak}`, {
    context: {
      limit_mb: toMebibytes(limitBytes),
      peak_mb: peakBytes === null ? null : toMebibytes(peakBytes),
      retryable: false,
    },
  });
}

function toMebibytes(bytes: number): number {
  return Math.round((bytes / 1024 / 1024) * 10) / 10;
}
