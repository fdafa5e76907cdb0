import { z } from "zod";
import { resultAlerts } from "./alert-schema.ts";
import { wireErrorSchema } from "./wire-error-schema.ts";
import { isolationLevels, outcomes } from "./wire-values.ts";

/** What every response about a run contains, whatever ran; spread into its schema. */
export const runResponse = {
  outcome: z.enum(outcomes).describe("The one verdict."),
  exit_code: z.number().nullable().describe("128 + N if killed by signal N; null when the sandbox was lost."),
  duration_ms: z.number().describe("Time of the program itself."),
  memory_used_mb: z.number().nullable().describe("Highest use observed, in MiB; null if none was."),
  timed_out: z.boolean(),
  truncated: z.boolean().describe("Whether output beyond the limit was dropped."),
  engine: z.string(),
  isolation: z.enum(isolationLevels).describe("How strongly this run was isolated."),
  oci_runtime: z.string().optional().describe("The OCI runtime that was requested and used."),
  policy_digest: z.string().optional().describe("Identifies this run's policy in the store."),
  warnings: z.array(z.string()).describe("Substitutes and reductions that applied to this run."),
  alerts: resultAlerts,
  error: wireErrorSchema.optional(),
} as const;

/** What every response about one program contains (SPEC EX1). */
export const programResponse = {
  ...runResponse,
  stdout: z.string(),
  stderr: z.string(),
  sandbox_id: z.string(),
} as const;

const runResponseSchema = z.object(runResponse);

export type RunResponse = z.output<typeof runResponseSchema>;

const programResponseSchema = z.object(programResponse);

/** The part of a response that is about the program. */
export type ProgramResponse = z.output<typeof programResponseSchema>;
