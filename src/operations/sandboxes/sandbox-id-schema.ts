import { z } from "zod";

/** The field `sandbox_id` of requests about a live sandbox. */
export const sandboxId: z.ZodString = z
  .string()
  .describe("The sandbox's id, its name, or the first characters of its id.");
