import { mebibyte } from "../../base/bytes.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import type { ProgramResponse, RunResponse } from "../contract/program-schema.ts";
import type { ProgramResult } from "../../workloads/run/program-result.ts";
import { withLimitAdvice, type RunLimits } from "./limit-advice.ts";

/** What the results of all runs contain, whatever ran. */
type RunFacts = Pick<
  ProgramResult,
  | "outcome"
  | "exitCode"
  | "durationMs"
  | "memoryPeakBytes"
  | "truncated"
  | "engine"
  | "isolation"
  | "ociRuntime"
  | "policyDigest"
  | "warnings"
  | "error"
>;

/** A program's result on the wire; `notes` come before its own warnings. */
export function programToWire(result: ProgramResult, notes: readonly string[], limits: RunLimits): ProgramResponse {
  const { stdout, stderr, sandboxId } = result;
  return { ...runToWire(result, notes, limits), stdout, stderr, sandbox_id: sandboxId };
}

/** The part that the responses of all runs have in common. */
export function runToWire(result: RunFacts, notes: readonly string[], limits: RunLimits): RunResponse {
  const { memoryPeakBytes: peak } = result;
  return {
    outcome: result.outcome,
    exit_code: result.exitCode,
    duration_ms: result.durationMs,
    memory_used_mb: peak === null ? null : Math.round((peak / mebibyte) * 10) / 10,
    timed_out: result.outcome === "timed_out",
    truncated: result.truncated,
    engine: result.engine,
    isolation: result.isolation,
    ...(result.ociRuntime === null ? {} : { oci_runtime: result.ociRuntime }),
    ...(result.policyDigest === null ? {} : { policy_digest: result.policyDigest }),
    warnings: [...notes, ...result.warnings],
    ...errorOfRun(result.error, limits),
  };
}

/** The field `error` of a run's response. */
export function errorOfRun(error: GloveboxError | null, limits: RunLimits): Pick<RunResponse, "error"> {
  return error === null ? {} : { error: withLimitAdvice(error, limits).toWire() };
}
