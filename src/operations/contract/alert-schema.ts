import { z } from "zod";

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
