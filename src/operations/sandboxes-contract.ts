import { z } from "zod";
import {
  labelFilterSchema,
  labelsShown,
  nameShown,
  workShown,
  listOf,
  maxNamed,
  aboutPlace,
} from "./contract/request-schemas.ts";
import { wireErrorSchema } from "./contract/wire-messages.ts";
import { defineOperation } from "./contract/operation-contract.ts";

/** The field `sandbox_id` of requests about a live sandbox. */
export const sandboxId: z.ZodString = z
  .string()
  .describe("The sandbox's id, its name, or the first characters of its id.");

const about = {
  id: z.string().describe("Names it in paths: a sandbox's id, or a run's (run-...) where the sandbox is not its own."),
  sandbox_id: z.string().nullable().describe("The sandbox that does it; null while it is not known."),
  operation: z
    .string()
    .nullable()
    .describe("What was asked for; null for the sandbox of a session or an environment, and for what is stored."),
  name: nameShown,
  work: workShown,
  labels: labelsShown,
  elapsed_ms: z.number().describe("Since it began."),
  kind: z.string().nullable().describe("What the sandbox is for; null while there is none."),
  engine: z.string().nullable().describe("Null while there is no sandbox."),
  image: z.string().nullable().describe("Null where the engine has no images, and while there is no sandbox."),
} as const;

/** How many runs a list shows by default, and at most. */
const listedRuns = { default: 100, max: 1_000 } as const;

/** Query of `GET /api/sandbox`. */
export const listOwnSandboxesRequestSchema = z.strictObject({
  label: labelFilterSchema.optional(),
  state: z
    .enum(["live", "ended"])
    .default("live")
    .describe("`ended`: instead of what lives, the runs in the server's store that have ended, the newest first."),
  limit: z.number().int().min(1).max(listedRuns.max).default(listedRuns.default).describe("Most ended runs."),
});

/** What the server's store keeps about a run. */
const runRecordSchema = z.object({
  run_id: z.string(),
  kind: z.string().describe("What its sandbox was for."),
  engine: z.string(),
  session_id: z.string().nullable(),
  env_id: z.string().nullable(),
  policy_digest: z.string().describe("Names the policy that governed it in the store."),
  started_at: z.string().describe("RFC 3339."),
  ended_at: z.string().nullable().describe("Null while it goes on; of an interrupted run, when that was found."),
  outcome: z.string().nullable(),
  exit_code: z.number().nullable(),
  duration_ms: z.number().nullable().describe("Of its program; null when that never started or was interrupted."),
  error_type: z.string().nullable(),
  interrupted: z.boolean().describe("Its server ended before it did."),
});

/**
 * Answer of `GET /api/sandbox`: the caller's own, both those of running calls and those of sessions and environments.
 */
export const ownSandboxesSchema = z.object({
  sandboxes: z.array(
    z.object({
      ...about,
      state: z
        .enum(["starting", "running", "ended"])
        .describe("Starting: it has no sandbox yet, and may wait for a place."),
      stored: runRecordSchema.optional().describe("Of an ended run."),
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
  result: z.unknown().optional().describe("The operation's response, once it has ended; while it is in memory."),
  stored: runRecordSchema.optional().describe("Instead of a result that is not in memory any more."),
  error: wireErrorSchema.optional().describe("Instead of a result: why the platform failed or refused."),
});

/** Query of `DELETE /api/sandbox/{id}`. */
export const removeSandboxQuerySchema = z.strictObject({
  forget: z.boolean().default(true).describe("Whether the result is forgotten too, instead of kept as usual."),
});

/** Answer of `DELETE /api/sandbox/{id}`. */
export const removedSandboxSchema = z.object({ id: z.string(), removed: z.literal(true) });

/** Answer 202 of a request with `Prefer: respond-async`. */
export const acceptedSchema = z.object({
  id: z.string(),
  sandbox_id: z.string().nullable(),
  status_url: z.string().describe("Path at which to ask for its state and result."),
});

export type StoredRunAnswer = z.output<typeof runRecordSchema>;
export type OwnSandboxes = z.output<typeof ownSandboxesSchema>;
export type SandboxStateAnswer = z.output<typeof sandboxStateSchema>;

const listSandboxesRequestSchema = z.strictObject({
  engine: z.string().optional().describe("Only this engine's; default: every engine that answers."),
  recorded: z
    .boolean()
    .optional()
    .describe("Only what living processes of this user have recorded, without asking the engines; default false."),
});

const removeSandboxesRequestSchema = z.strictObject({
  ids: listOf(z.string(), maxNamed).min(1).describe("Ids or names of sandboxes, or the first characters of their ids."),
});

const pruneSandboxesRequestSchema = z.strictObject({
  all: z.boolean().optional().describe("Also those of servers that live; default: only what dead ones left."),
});

const sandboxRow = z.object({
  sandbox_id: z.string(),
  engine: z.string(),
  kind: z.string(),
  name: nameShown,
  work: workShown,
  image: z.string().nullable().describe("Null where the engine has no images, and where only its owner knows."),
  principal: z.string().describe("Empty while nobody has it, and where only another user's server knows."),
  created_at: z.string().describe("RFC 3339."),
  running: z.boolean(),
  owner: z.enum(["living", "expired", "unknown"]).describe("Whether the server that made it still lives."),
});

const sandboxesResponseSchema = z.object({ sandboxes: z.array(sandboxRow) });

const removedResponseSchema = z.object({
  removed: z.array(z.string()).describe("Ids of sandboxes that are gone."),
});

/** What runs now. */
export const listSandboxesContract = defineOperation({
  name: "list_sandboxes",
  audience: "local",
  description: "Lists the sandboxes that exist now, on every engine that answers.",
  request: listSandboxesRequestSchema,
  response: sandboxesResponseSchema,
  routes: [],
});

/** Ends and removes sandboxes by their ids or names. */
export const removeSandboxesContract = defineOperation({
  name: "remove_sandboxes",
  audience: "local",
  description: "Ends and removes the named sandboxes, whoever made them.",
  request: removeSandboxesRequestSchema,
  response: removedResponseSchema,
  routes: [],
});

/** Removes what dead servers left, or everything. */
export const pruneSandboxesContract = defineOperation({
  name: "prune_sandboxes",
  audience: "local",
  description: "Removes the sandboxes that dead servers left on the engines, or all of them.",
  request: pruneSandboxesRequestSchema,
  response: removedResponseSchema,
  routes: [],
});

/** One sandbox of this machine's user. */
export type SandboxRow = z.output<typeof sandboxRow>;

const requestSchema = z.strictObject({ sandbox_id: sandboxId });

const responseSchema = z.object(aboutPlace);

/** `find_sandbox_place`: which session or environment a sandbox belongs to. */
export const findSandboxPlaceContract = defineOperation({
  name: "find_sandbox_place",
  audience: "everyone",
  description:
    "Names the environment or the session that lives in one of your sandboxes, and whose files and background processes it therefore has.",
  request: requestSchema,
  response: responseSchema,
  routes: [{ method: "GET", path: "/api/sandbox/{sandbox_id}/place" }],
});
