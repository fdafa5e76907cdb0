import type { BoundedOutput } from "../../base/streams/collected-bytes.ts";
import { createId } from "../../base/id.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import type { EngineName } from "../../engines/engine.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { Redaction } from "../../policy/redaction.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import type { JudgedRun } from "./conclude-run.ts";
import { networkWarnings } from "./network-report.ts";
import { secretWarnings } from "./explain-ending.ts";

/** What became of one program. */
export interface ProgramResult extends RunResult {
  readonly engine: EngineName;
  readonly isolation: Isolation;
  /** Null when none was asked for. */
  readonly ociRuntime: string | null;
}

/** The part of it that only the run decides. */
export interface RunResult {
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
  readonly memoryPeakBytes: number | null;
  readonly truncated: boolean;
  readonly sandboxId: string;
  /** Names the policy that governed it; null when nothing ran. */
  readonly policyDigest: string | null;
  readonly warnings: readonly string[];
  readonly error: GloveboxError | null;
}

/** The result of a run whose output nobody else needs any more, with what a caller should know of its network and its secrets. */
export function runResult(
  run: JudgedRun<BoundedOutput> & Pick<RunResult, "error">,
  sandboxId: string,
  redaction: Redaction,
): RunResult {
  const { end, networkReport, outcome, memoryPeakBytes, error } = run;
  return {
    outcome,
    exitCode: end.exitCode,
    stdout: end.stdout.takeText(),
    stderr: end.stderr.takeText(),
    durationMs: end.durationMs,
    memoryPeakBytes,
    truncated: end.stdout.truncated || end.stderr.truncated,
    sandboxId,
    policyDigest: run.policyDigest,
    warnings: [...networkWarnings(networkReport, outcome), ...secretWarnings(redaction)],
    error,
  };
}

/** A program that never reached a sandbox, reported like one that its interpreter refused. */
export function refusedResult(error: GloveboxError, warnings: readonly string[]): RunResult {
  return {
    outcome: "failed",
    exitCode: 1,
    stdout: "",
    stderr: `SyntaxError: ${error.message}\n`,
    durationMs: 0,
    memoryPeakBytes: null,
    truncated: false,
    sandboxId: createId("sbx"),
    policyDigest: null,
    warnings,
    error,
  };
}
