import { z } from "zod";
import { isolationLevels } from "../engines/capabilities.ts";
import { outcomes } from "../sandbox/outcome.ts";
import type { ProgramResult } from "../workloads/run/program-result.ts";

const wireError = z.object({
  error_type: z.string(),
  message: z.string(),
  suggestion: z.string().describe("What can be done about it."),
  context: z.record(z.string(), z.unknown()),
});

/** What every response about one program holds (SPEC EX1); spread into its schema. */
export const programResponse = {
  outcome: z.enum(outcomes).describe("The one verdict."),
  exit_code: z.number().nullable().describe("128 + N for death by signal N; null when the sandbox was lost."),
  stdout: z.string(),
  stderr: z.string(),
  duration_ms: z.number().describe("Time of the program itself."),
  memory_used_mb: z.number().nullable().describe("Highest use seen, in MiB; null when unseen."),
  timed_out: z.boolean(),
  truncated: z.boolean().describe("Whether output beyond the cap was dropped."),
  sandbox_id: z.string(),
  engine: z.string(),
  isolation: z.enum(isolationLevels).describe("How strongly this run was sealed."),
  oci_runtime: z.string().optional().describe("The OCI runtime that was asked for, and ran it."),
  warnings: z.array(z.string()).describe("Substitutes and reductions that applied to this run."),
  error: wireError.optional(),
} as const;

const programResponseSchema = z.object(programResponse);

/** The part of a response that is about the program. */
export type ProgramResponse = z.output<typeof programResponseSchema>;

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
    warnings: [...notes, ...result.warnings],
    ...(result.error === null ? {} : { error: result.error.toWire() }),
  };
}
