import { z } from "zod";

export const listSandboxesRequestSchema = z.strictObject({
  engine: z.string().optional().describe("Only this engine's; default: every engine that answers."),
});

export const removeSandboxesRequestSchema = z.strictObject({
  ids: z.array(z.string()).min(1).describe("Ids of sandboxes."),
});

export const pruneSandboxesRequestSchema = z.strictObject({
  all: z.boolean().optional().describe("Also those of servers that live; default: only what dead ones left."),
});

const sandboxRow = z.object({
  sandbox_id: z.string(),
  engine: z.string(),
  kind: z.string(),
  principal: z.string().describe("Empty while nobody has it, and where only another user's server knows."),
  created_at: z.string().describe("RFC 3339."),
  running: z.boolean(),
  owner: z.enum(["living", "expired", "unknown"]).describe("Whether the server that made it still lives."),
});

export const sandboxesResponseSchema = z.object({ sandboxes: z.array(sandboxRow) });
export const removedResponseSchema = z.object({
  removed: z.array(z.string()).describe("Ids of sandboxes that are gone."),
});

export type ListSandboxesRequest = z.input<typeof listSandboxesRequestSchema>;
export type RemoveSandboxesRequest = z.input<typeof removeSandboxesRequestSchema>;
export type PruneSandboxesRequest = z.input<typeof pruneSandboxesRequestSchema>;
/** One sandbox of this machine's user. */
export type SandboxRow = z.output<typeof sandboxRow>;
