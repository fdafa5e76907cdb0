import { z } from "zod";

/** The error that goes with an outcome (SPEC ER1). */
export const wireErrorSchema: z.ZodType<{
  error_type: string;
  message: string;
  suggestion: string;
  context: Record<string, unknown>;
}> = z.object({
  error_type: z.string(),
  message: z.string(),
  suggestion: z.string().describe("What to do about it."),
  context: z.record(z.string(), z.unknown()),
});
