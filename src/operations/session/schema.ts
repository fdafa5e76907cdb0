import { z } from "zod";
import { languages } from "../../policy/language.ts";
import { programResponse } from "../program-response.ts";
import { runSettings } from "../run-settings.ts";
import { secretsSchema } from "../secrets-schema.ts";

/** The field `session_id` of requests that use a session. */
export const sessionId: z.ZodOptional<z.ZodString> = z
  .string()
  .optional()
  .describe("A session_id of an earlier answer; default: the session of this connection, else a new one.");

/** Request of a call in a session (SPEC SE0). */
export const runCodeRequestSchema = z.strictObject({
  code: z.string().describe("The program, at most 1 MiB."),
  language: z.enum(languages).optional().describe("Language of the code; default typescript."),
  session_id: sessionId,
  packages: z
    .union([z.array(z.string()), z.literal("auto")])
    .optional()
    .describe('Packages that the code imports, such as ["lodash@4.17.21"]; default "auto": found by its imports.'),
  stdin: z.string().optional().describe("The program's standard input; default: empty."),
  args: z.array(z.string()).optional().describe("Arguments of the program."),
  secrets: secretsSchema.optional(),
  timeout_seconds: z.number().optional().describe("Time for the program; short for limits.timeout_seconds."),
  ...runSettings,
});

/** Response of a call in a session (SPEC SE0). */
export const runCodeResponseSchema = z.object({
  session_id: z.string().describe("Names the session: its files are there for the next call that gives it."),
  container_id: z.string().describe("The sandbox that ran it; the same as sandbox_id."),
  restarted: z
    .boolean()
    .describe("Whether the session's sandbox is a new one; a warning says what became of its files."),
  packages_installed: z
    .array(z.string())
    .describe("The packages of this call in the versions that it had, from the cache or freshly installed."),
  ...programResponse,
});

export const endSessionRequestSchema = z.strictObject({
  session_id: z.string().optional().describe("Which one; default: the session of this connection."),
});

export const endSessionResponseSchema = z.object({
  session_id: z.string().nullable().describe("The session that has ended; null when there was none."),
});

export type RunCodeRequest = z.input<typeof runCodeRequestSchema>;
export type RunCodeResponse = z.output<typeof runCodeResponseSchema>;
export type EndSessionRequest = z.input<typeof endSessionRequestSchema>;
export type EndSessionResponse = z.output<typeof endSessionResponseSchema>;
