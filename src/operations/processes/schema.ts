import { z } from "zod";
import { processSignals } from "../../engines/engine.ts";
import { toolingFilesSchema } from "../environments/tooling-schema.ts";
import { runSettings } from "../run-settings.ts";

/** A process that serves has one or two. */
const mostPorts = 8;

const place = {
  env_id: z.string().optional().describe("The environment it is in, as create_environment gave it."),
  session_id: z
    .string()
    .optional()
    .describe("Or the session; with neither: the session of this connection, the one that run_code uses."),
} as const;
/** In each answer, whichever of them it is. */
const about = { env_id: z.string().optional(), session_id: z.string().optional() } as const;
const processId = z.string().describe("The process's id, as start_process gave it.");

const processSchema = z.object({
  process_id: z.string(),
  command: z.array(z.string()),
  state: z.enum(["running", "exited", "lost"]).describe("lost: the container went away under it."),
  exit_code: z.number().nullable().describe("128 + N for death by signal N; null while it runs and when it was lost."),
  started_at: z.string(),
  ports: z
    .array(z.object({ port: z.number(), url: z.string() }))
    .describe("Its ports, each with where it is reached on the server's machine while the process runs."),
  tooling_files: toolingFilesSchema
    .optional()
    .describe(
      "In an environment: files that tools of the project's owner run by themselves and that have changed since the process was started; of many in one folder the folder; at most 100.",
    ),
});

const part = z.object({
  offset: z
    .number()
    .describe("Where the text begins in the stream, in bytes: above what was asked when older output was dropped."),
  text: z.string(),
  next_offset: z.number().describe("Ask from here for what follows."),
  total_bytes: z.number().describe("Bytes the stream has had so far."),
  is_over: z.boolean().describe("Whether nothing follows."),
});

/** Request of `start_process` (SPEC EV6). */
export const startProcessRequestSchema = z.strictObject({
  ...place,
  session_id: z
    .string()
    .optional()
    .describe(
      "Or the session; with neither: the session of this connection, the one that run_code uses, or a new one.",
    ),
  command: z
    .array(z.string())
    .min(1, 'expected a program and its arguments, such as ["npm", "start"]')
    .describe('Program and arguments, such as ["npm", "start"].'),
  environment: z.record(z.string(), z.string()).optional().describe("Environment variables of this process."),
  env: z.record(z.string(), z.string()).optional().describe("The same as environment."),
  cwd: z
    .string()
    .optional()
    .describe("Folder to start in, absolute or relative to /workdir (in a session: /work), which is the default."),
  ports: z
    .array(z.int().min(1).max(65_535))
    .max(mostPorts)
    .optional()
    .describe(
      "TCP ports that it listens on, at most 8; the answer says at which URL of the server's machine each is reached.",
    ),
  network: runSettings.network.describe(
    'In a session: what the process may reach, as in run_code; default "none". An environment has its own for all.',
  ),
});

export const startProcessResponseSchema = processSchema.extend({
  ...about,
  restarted: z.boolean().optional().describe("In a session: whether its sandbox is a new one."),
  warnings: z.array(z.string()),
});

/** Request of `list_processes`. */
export const listProcessesRequestSchema = z.strictObject({
  ...place,
  process_id: processId.optional().describe("Tells of this process only, and shows its output."),
  stdout_offset: z.number().int().min(0).optional().describe("With process_id: where to read stdout from; default 0."),
  stderr_offset: z.number().int().min(0).optional().describe("With process_id: where to read stderr from; default 0."),
  max_bytes: z
    .number()
    .int()
    .min(16)
    .max(262_144)
    .optional()
    .describe("With process_id: most bytes of each stream; default 65536."),
});

export const listProcessesResponseSchema = z.object({
  ...about,
  processes: z.array(processSchema.extend({ stdout: part.optional(), stderr: part.optional() })),
});

/** Request of `write_stdin`. */
export const writeStdinRequestSchema = z.strictObject({
  ...place,
  process_id: processId,
  text: z.string().max(1_048_576).optional().describe("Written as it is, at most 1 MiB; end lines with \\n."),
  close: z.boolean().optional().describe("Ends the process's standard input after the text; default false."),
});

export const writeStdinResponseSchema = z.object({
  ...about,
  process_id: z.string(),
  written_bytes: z.number(),
  closed: z.boolean(),
});

/** Request of `stop_process`. */
export const stopProcessRequestSchema = z.strictObject({
  ...place,
  process_id: processId,
  signal: z
    .enum([...processSignals, "SIGKILL"])
    .optional()
    .describe(
      "Sends only this signal, to the process itself, which may then go on: SIGHUP or SIGUSR1 for what it does with them. SIGKILL ends it at once, with all that it started. Left out: ends it gently.",
    ),
});

export const stopProcessResponseSchema = processSchema.extend({ ...about, warnings: z.array(z.string()) });

export type StartProcessResponse = z.output<typeof startProcessResponseSchema>;
export type StartProcessRequest = z.input<typeof startProcessRequestSchema>;
export type ListProcessesRequest = z.input<typeof listProcessesRequestSchema>;
export type ListProcessesResponse = z.output<typeof listProcessesResponseSchema>;
export type WriteStdinRequest = z.input<typeof writeStdinRequestSchema>;
export type WriteStdinResponse = z.output<typeof writeStdinResponseSchema>;
export type StopProcessRequest = z.input<typeof stopProcessRequestSchema>;
export type StopProcessResponse = z.output<typeof stopProcessResponseSchema>;
export type ProcessRow = z.output<typeof processSchema>;
