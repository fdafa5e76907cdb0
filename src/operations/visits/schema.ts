import { z } from "zod";

const sandboxId = z.string().describe("The sandbox's id, as list_sandboxes shows it.");
const environment = z
  .record(z.string(), z.string())
  .optional()
  .describe("Variables of the program; they win over those of the sandbox's own programs.");
const cwd = z
  .string()
  .optional()
  .describe("Absolute folder inside to start in; default: where the sandbox's own programs start.");

/** Request of `exec_in_sandbox`. */
export const execRequestSchema = z.strictObject({
  sandbox_id: sandboxId,
  command: z
    .array(z.string())
    .min(1, 'expected a program and its arguments, such as ["ls", "-l"]')
    .describe('Program and arguments, such as ["ls", "-l"]; for a shell line ["sh", "-c", "..."].'),
  environment,
  cwd,
});

/** Response of `exec_in_sandbox`. */
export const execResponseSchema = z.object({
  sandbox_id: z.string(),
  exit_code: z.number().describe("127: no such program; 128 + N for death by signal N."),
  stdout: z.string().describe("At most max_output_bytes of the configuration; the rest is dropped."),
  stderr: z.string(),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
});

/** Request of `open_terminal`. */
export const terminalRequestSchema = z.strictObject({
  sandbox_id: sandboxId,
  command: z.array(z.string()).min(1).optional().describe("Default: an interactive shell, bash where there is one."),
  environment,
  cwd,
  columns: z.number().describe("Size of the terminal at the start, in characters."),
  rows: z.number(),
  term: z
    .string()
    .regex(/^[\w.+-]{1,64}$/)
    .optional()
    .describe("Kind of the terminal (TERM); default: xterm."),
});

/** Response of `open_terminal`. */
export const terminalResponseSchema = z.object({
  sandbox_id: z.string(),
  exit_code: z.number(),
  held_by: z
    .enum(["python", "script", "none"])
    .describe("What in the sandbox held the terminal: script does not follow its size, none is no terminal at all."),
});

const maxSize = z
  .number()
  .int()
  .positive()
  .optional()
  .describe("Bytes of all files together that are copied at most; default 1 GiB.");
const maxEntries = z
  .number()
  .int()
  .positive()
  .optional()
  .describe("Files, folders and links at most; default 100,000.");

/** Request of `copy_into_sandbox`. */
export const copyInRequestSchema = z.strictObject({
  source: z.string().describe("File or folder of this machine, absolute or relative to the working directory."),
  sandbox_id: sandboxId,
  target: z.string().describe("Absolute path inside: a folder that exists gets the source in it, else its new name."),
  max_bytes: maxSize,
  max_entries: maxEntries,
});

/** Request of `copy_out_of_sandbox`. */
export const copyOutRequestSchema = z.strictObject({
  sandbox_id: sandboxId,
  source: z.string().describe("Absolute path of a file or folder inside."),
  target: z.string().describe("Path on this machine: a folder that exists gets the source in it, else its new name."),
  max_bytes: maxSize,
  max_entries: maxEntries,
});

/** Response of both. */
export const copyResponseSchema = z.object({
  sandbox_id: z.string(),
  entries: z.number().describe("Files, folders and links that were copied."),
  bytes: z.number(),
  warnings: z.array(z.string()).describe("What was left out and why."),
});

export type ExecRequest = z.input<typeof execRequestSchema>;
export type ExecResponse = z.output<typeof execResponseSchema>;
export type TerminalRequest = z.input<typeof terminalRequestSchema>;
export type TerminalResponse = z.output<typeof terminalResponseSchema>;
export type CopyInRequest = z.input<typeof copyInRequestSchema>;
export type CopyOutRequest = z.input<typeof copyOutRequestSchema>;
export type CopyResponse = z.output<typeof copyResponseSchema>;
