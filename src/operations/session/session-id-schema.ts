import { z } from "zod";

/** The field `session_id` of requests that use a session. */
export const sessionId: z.ZodOptional<z.ZodString> = z
  .string()
  .optional()
  .describe("A session_id of an earlier answer; default: the session of this connection, else a new one.");
