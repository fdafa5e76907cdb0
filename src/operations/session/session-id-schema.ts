import { z } from "zod";
import { nameText } from "../contract/name-schema.ts";

/** The field `session_id` of requests that use a session. */
export const sessionId: z.ZodOptional<z.ZodString> = z
  .string()
  .optional()
  .describe(
    "A session_id of an earlier answer, or the session's name; default: the session of this connection, else a new one.",
  );

/** The field `keep_variables` of requests that may open a session. */
export const keepVariables: z.ZodOptional<z.ZodBoolean> = z
  .boolean()
  .optional()
  .describe(
    "Of a new session: an interpreter of each language lives with it, so that variables last from call to call, and the last expression's value, tables and plots come back in displays. Its programs have no stdin, secrets or network. Default false.",
  );

/** The field `home` of requests that open a session: folders that no system keeps files of its own in. */
export const home: z.ZodOptional<z.ZodString> = z
  .string()
  .regex(/^\/(?:workspace|home\/[a-z_][a-z0-9_-]{0,31})$/, "expected /workspace or a folder such as /home/user")
  .optional()
  .describe(
    "Folder that its programs start in, that is their HOME, and whose files are kept: /workspace, or one such as /home/user; default: /work, with HOME in /tmp.",
  );

/** The name of a context of a session that keeps variables. */
export const contextName: z.ZodString = nameText.describe(
  "The context's name: letters, digits, hyphens, underscores and dots, at most 64.",
);
