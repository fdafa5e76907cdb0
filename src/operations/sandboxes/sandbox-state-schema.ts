import { z } from "zod";
import { labelFilterSchema, labelsShown } from "../contract/labels-schema.ts";
import { wireErrorSchema } from "../contract/wire-error-schema.ts";

const about = {
  id: z.string().describe("Names it in paths: a sandbox's id, or a run's (run-...) where the sandbox is not its own."),
  sandbox_id: z.string().nullable().describe("The sandbox that does it; null while it is not known."),
  operation: z.string().nullable().describe("What was asked for; null for the sandbox of a session or an environment."),
  labels: labelsShown,
  elapsed_ms: z.number().describe("Since it began."),
} as const;

/** Query of `GET /api/sandbox`. */
export const listOwnSandboxesRequestSchema: z.ZodObject = z.strictObject({ label: labelFilterSchema.optional() });

/** Answer of `GET /api/sandbox`: the caller's own, those at work and those that sessions and environments live in. */
export const ownSandboxesSchema = z.object({
  sandboxes: z.array(
    z.object({
      ...about,
      state: z.enum(["starting", "running"]).describe("Starting: it has no sandbox yet, and may wait for a place."),
      kind: z.string().nullable().describe("What the sandbox is for; null while there is none."),
      engine: z.string().nullable(),
    }),
  ),
});

/** Answer of `GET /api/sandbox/{id}`. */
export const sandboxStateSchema = z.object({
  ...about,
  state: z.enum(["starting", "running", "ended"]),
  progress: z.string().nullable().describe("What it said last of its progress."),
  stdout_tail: z.string().describe("The newest output so far, at most 4096 bytes."),
  stderr_tail: z.string(),
  result: z.unknown().optional().describe("The operation's response, once it has ended."),
  error: wireErrorSchema.optional().describe("Instead of a result: why the platform failed or refused."),
});

/** Answer of `DELETE /api/sandbox/{id}`. */
export const removedSandboxSchema = z.object({ id: z.string(), removed: z.literal(true) });

/** Answer 202 of a request with `Prefer: respond-async`. */
export const acceptedSchema = z.object({
  id: z.string(),
  sandbox_id: z.string().nullable(),
  status_url: z.string().describe("Path at which to ask for its state and result."),
});

export type OwnSandboxes = z.output<typeof ownSandboxesSchema>;
export type SandboxStateAnswer = z.output<typeof sandboxStateSchema>;
