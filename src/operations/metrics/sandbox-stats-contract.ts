import { z } from "zod";
import { nameShown } from "../contract/name-schema.ts";
import { defineOperation } from "../contract/operation-contract.ts";
import { sampleFields, sampleLimits } from "./sample-schema.ts";

const sandboxStatsRequestSchema = z.strictObject({
  id: z.string().optional().describe("Only this sandbox; default: all of this user's on this machine."),
});

/** A sandbox with its newest sample. */
export const sandboxStatsRow: z.ZodObject<{
  container_id: z.ZodString;
  name: typeof nameShown;
  engine: z.ZodString;
  kind: z.ZodString;
  limits: typeof sampleLimits;
  sample: z.ZodNullable<z.ZodObject<typeof sampleFields>>;
}> = z.object({
  container_id: z.string(),
  name: nameShown,
  engine: z.string(),
  kind: z.string(),
  limits: sampleLimits,
  sample: z.object(sampleFields).nullable().describe("The newest; null in its first second."),
});

/** What the sandboxes of this machine's user currently use, whichever process owns them. */
export const sandboxStatsContract = defineOperation({
  name: "sandbox_stats",
  audience: "local",
  description: "Shows what the sandboxes of this user use now, whichever process of Glovebox has them.",
  request: sandboxStatsRequestSchema,
  response: z.object({ sandboxes: z.array(sandboxStatsRow) }),
  routes: [],
});

export type SandboxStatsRow = z.output<typeof sandboxStatsRow>;
