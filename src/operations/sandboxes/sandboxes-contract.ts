import { z } from "zod";
import { listOf } from "../contract/bounded-schemas.ts";
import { nameShown, workShown } from "../contract/name-schema.ts";
import { maxNamed } from "../contract/request-maxima.ts";
import { defineOperation } from "../contract/operation-contract.ts";

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
