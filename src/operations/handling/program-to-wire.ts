import type { ProgramResponse } from "../contract/request/program-schema.ts";
import type { ProgramResult } from "../../workloads/run/program-result.ts";

/** A program's result on the wire; `notes` come before its own warnings. */
export function programToWire(result: ProgramResult, notes: readonly string[]): ProgramResponse {
  const { memoryPeakBytes: peak } = result;
  return {
    outcome: result.outcome,
    exit_code: result.exitCode,
    stdout: result.stdout,
    stderr: result.stderr,
    duration_ms: result.durationMs,
    memory_used_mb: peak === null ? null : Math.round((peak / 1024 / 1024) * 10) / 10,
    timed_out: result.outcome === "timed_out",
    truncated: result.truncated,
    sandbox_id: result.sandboxId,
    engine: result.engine,
    isolation: result.isolation,
    ...(result.ociRuntime === null ? {} : { oci_runtime: result.ociRuntime }),
    ...(result.policyDigest === null ? {} : { policy_digest: result.policyDigest }),
    warnings: [...notes, ...result.warnings],
    ...(result.error === null ? {} : { error: result.error.toWire() }),
  };
}
