import { z } from "zod";
import { wireErrorSchema } from "./wire-messages.ts";
import { isolationLevels, outcomes, toolingChanges } from "./wire-values.ts";

/** What alerts may be about (SPEC ME2). */
export const alertKinds = [
  "cpu",
  "memory",
  "network",
  "preview_error",
  "oom",
  "setuid_files",
  "tooling_files",
] as const;
export const alertStates = ["start", "end"] as const;

/** Alerts in one result. */
export const maxResultAlerts = 20;

/** Something about a sandbox that its owner should know. */
export const alertSchema: z.ZodObject<{
  container_id: z.ZodString;
  timestamp: z.ZodString;
  kind: z.ZodEnum<{ [Kind in (typeof alertKinds)[number]]: Kind }>;
  value: z.ZodNumber;
  threshold: z.ZodNumber;
  state: z.ZodEnum<{ start: "start"; end: "end" }>;
  message: z.ZodString;
  suggestion: z.ZodString;
}> = z.object({
  container_id: z.string(),
  timestamp: z.string(),
  kind: z.enum(alertKinds),
  value: z.number(),
  threshold: z.number(),
  state: z.enum(alertStates),
  message: z.string(),
  suggestion: z.string(),
});

/** An alert as clients read it. */
export type WireAlert = z.output<typeof alertSchema>;

/** The field `alerts` of results, for schemas. */
export const resultAlerts: z.ZodOptional<z.ZodArray<typeof alertSchema>> = z
  .array(alertSchema)
  .optional()
  .describe("Alerts of its sandbox while it ran; the newest 20.");

/** One line per alert, for an agent to read. */
export function alertLines(alerts: readonly WireAlert[] = []): readonly string[] {
  return alerts.map(({ kind, state, message, suggestion }) =>
    state === "start" ? `alert (${kind}): ${message} ${suggestion}` : `alert over (${kind}): ${message}`,
  );
}

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

/** Maximum number of files that one answer names. */
export const maxToolingFiles = 100;

/** Files run by the project owner's tools that programs have changed. */
export const toolingFilesSchema: z.ZodArray<
  z.ZodObject<{ path: z.ZodString; change: z.ZodEnum<{ new: "new"; changed: "changed"; removed: "removed" }> }>
> = z.array(
  z.object({
    path: z.string().describe("From the project's folder, or in an agent's container."),
    change: z.enum(toolingChanges),
  }),
);

/** One line per file, for an agent to read. */
export function toolingLines(files: z.output<typeof toolingFilesSchema> = []): readonly string[] {
  return files.map(({ path, change }) => `tooling file ${change}: ${path}`);
}

/** A response about a program for an agent to read: the verdict in a line, what to do, the output, then the rest. */
export function programText(response: ProgramResponse, lines: readonly string[]): string {
  const { outcome, exit_code: exitCode, duration_ms: durationMs, error } = response;
  const exit = outcome === "failed" && exitCode !== null ? ` with exit code ${exitCode}` : "";
  return [
    `${outcome}${exit} after ${Math.round(durationMs)} ms (engine ${response.engine}).`,
    ...(error === undefined ? [] : [`${error.error_type}: ${error.message}`, error.suggestion]),
    ...section("stdout", response.stdout),
    ...section("stderr", response.stderr),
    ...(response.truncated ? ["Output beyond the limit was dropped: print less, or write it to a file."] : []),
    ...lines,
    ...alertLines(response.alerts),
    ...warningLines(response.warnings),
  ].join("\n");
}

function section(name: string, text: string): string[] {
  return text === "" ? [] : [`${name}:`, text.replace(/\n$/, "")];
}

/** One line per warning. */
export function warningLines(warnings: readonly string[]): readonly string[] {
  return warnings.map((warning) => `warning: ${warning}`);
}
