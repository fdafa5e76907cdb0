import { z } from "zod";

const envId = z.string().describe("The environment's id, as create_environment gave it.");
const processId = z.string().describe("The process's id, as start_process gave it.");

const processSchema = z.object({
  process_id: z.string(),
  command: z.array(z.string()),
  state: z.enum(["running", "exited", "lost"]).describe("lost: the container went away under it."),
  exit_code: z.number().nullable().describe("128 + N for death by signal N; null while it runs and when it was lost."),
  started_at: z.string(),
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
  env_id: envId,
  command: z
    .array(z.string())
    .min(1, 'expected a program and its arguments, such as ["npm", "start"]')
    .describe('Program and arguments, such as ["npm", "start"].'),
  environment: z.record(z.string(), z.string()).optional().describe("Environment variables of this process."),
  env: z.record(z.string(), z.string()).optional().describe("The same as environment."),
  cwd: z.string().optional().describe("Folder to start in, absolute or relative to /workdir, which is the default."),
});

export const startProcessResponseSchema = processSchema;

/** Request of `list_processes`. */
export const listProcessesRequestSchema = z.strictObject({
  env_id: envId,
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
  processes: z.array(processSchema.extend({ stdout: part.optional(), stderr: part.optional() })),
});

/** Request of `write_stdin`. */
export const writeStdinRequestSchema = z.strictObject({
  env_id: envId,
  process_id: processId,
  text: z.string().max(1_048_576).optional().describe("Written as it is, at most 1 MiB; end lines with \\n."),
  close: z.boolean().optional().describe("Ends the process's standard input after the text; default false."),
});

export const writeStdinResponseSchema = z.object({
  process_id: z.string(),
  written_bytes: z.number(),
  closed: z.boolean(),
});

/** Request of `stop_process`. */
export const stopProcessRequestSchema = z.strictObject({ env_id: envId, process_id: processId });

export const stopProcessResponseSchema = processSchema.extend({ warnings: z.array(z.string()) });

export type StartProcessRequest = z.input<typeof startProcessRequestSchema>;
export type ListProcessesRequest = z.input<typeof listProcessesRequestSchema>;
export type ListProcessesResponse = z.output<typeof listProcessesResponseSchema>;
export type WriteStdinRequest = z.input<typeof writeStdinRequestSchema>;
export type WriteStdinResponse = z.output<typeof writeStdinResponseSchema>;
export type StopProcessRequest = z.input<typeof stopProcessRequestSchema>;
export type StopProcessResponse = z.output<typeof stopProcessResponseSchema>;
export type ProcessRow = z.output<typeof processSchema>;
