import { z } from "zod";
import { maxEnvironmentEntries } from "./contract/wire-values.ts";
import { textsByName, commandSchema } from "./contract/request-schemas.ts";
import { defineOperation } from "./contract/operation-contract.ts";
import { sandboxId } from "./sandboxes-contract.ts";

const environment = textsByName(maxEnvironmentEntries)
  .optional()
  .describe("Variables of the program; they win over those of the sandbox's own programs.");

const cwd = z
  .string()
  .optional()
  .describe("Absolute folder inside to start in; default: where the sandbox's own programs start.");

const user = z
  .string()
  .optional()
  .describe(
    "User of the program where the engine gives sandboxes users of their own (one that runs without root, or with userns-remap): a name of the sandbox's /etc/passwd, or numbers as 1000 or 1000:1000, at most 59999; elsewhere refused. Default: the user of the sandbox's own programs.",
  );

/** Request of `exec_in_sandbox`. */
const execRequestSchema = z.strictObject({
  sandbox_id: sandboxId,
  command: commandSchema.describe("Shell line, or program and arguments as a list."),
  stdin: z.string().optional().describe("Standard input of the program, as UTF-8; default: empty."),
  environment,
  cwd,
  user,
});

/** Response of `exec_in_sandbox`. */
const execResponseSchema = z.object({
  sandbox_id: z.string(),
  exit_code: z.number().describe("127: no such program; 128 + N for death by signal N."),
  stdout: z.string().describe("At most max_output_bytes of the configuration; the rest is dropped."),
  stderr: z.string(),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
});

/** Runs one program in a live sandbox, next to its own programs. */
export const execInSandboxContract = defineOperation({
  name: "exec_in_sandbox",
  audience: "everyone",
  description:
    "Runs a program in one of your live sandboxes, beside the programs there, and ends it with all that it started when you go away. As a WebSocket of the same path it is fed, read and signalled while it runs.",
  request: execRequestSchema,
  response: execResponseSchema,
  carriesContent: true,
  routes: [{ method: "POST", path: "/api/sandbox/{sandbox_id}/exec" }],
  channel: "/api/sandbox/{sandbox_id}/exec",
});

/** Request of `open_terminal`. */
const terminalRequestSchema = z.strictObject({
  sandbox_id: sandboxId,
  command: commandSchema
    .optional()
    .describe(
      "Shell line, or program and arguments as a list; default: an interactive shell, bash where there is one.",
    ),
  environment,
  cwd,
  user,
  columns: z.number().describe("Size of the terminal at the start, in characters."),
  rows: z.number(),
  term: z
    .string()
    .regex(/^[\w.+-]{1,64}$/)
    .optional()
    .describe("Kind of the terminal (TERM); default: xterm."),
});

/** Response of `open_terminal`. */
const terminalResponseSchema = z.object({
  sandbox_id: z.string(),
  exit_code: z.number(),
});

/** A program in its own terminal inside a live sandbox. */
export const openTerminalContract = defineOperation({
  name: "open_terminal",
  audience: "everyone",
  description: "Runs a shell or a program in a terminal of its own in one of your live sandboxes.",
  request: terminalRequestSchema,
  response: terminalResponseSchema,
  routes: [],
  channel: "/api/sandbox/{sandbox_id}/terminal",
});

const maxSize: z.ZodOptional<z.ZodNumber> = z
  .number()
  .int()
  .positive()
  .optional()
  .describe("Bytes of all files together that are copied at most; default 1 GiB.");

const maxEntries: z.ZodOptional<z.ZodNumber> = z
  .number()
  .int()
  .positive()
  .optional()
  .describe("Files, folders and links at most; default 100,000.");

/** The limits of a copy, as in requests. */
const copyLimitFields: { readonly max_bytes: typeof maxSize; readonly max_entries: typeof maxEntries } = {
  max_bytes: maxSize,
  max_entries: maxEntries,
};

/** Request of `copy_into_sandbox`. */
const copyInRequestSchema = z.strictObject({
  source: z.string().describe("File or folder of this machine, absolute or relative to the working directory."),
  sandbox_id: sandboxId,
  target: z.string().describe("Absolute path inside: a folder that exists gets the source in it, else its new name."),
  ...copyLimitFields,
});

/** Request of `copy_out_of_sandbox`. */
const copyOutRequestSchema = z.strictObject({
  sandbox_id: sandboxId,
  source: z.string().describe("Absolute path of a file or folder inside."),
  target: z.string().describe("Path on this machine: a folder that exists gets the source in it, else its new name."),
  ...copyLimitFields,
});

/** Response of every copy. */
const copyResponseSchema: z.ZodObject<{
  sandbox_id: z.ZodString;
  entries: z.ZodNumber;
  bytes: z.ZodNumber;
  warnings: z.ZodArray<z.ZodString>;
}> = z.object({
  sandbox_id: z.string(),
  entries: z.number().describe("Files, folders and links that were copied."),
  bytes: z.number(),
  warnings: z.array(z.string()).describe("What was left out and why."),
});

/** Copies a file or folder of this machine into a live sandbox. */
export const copyIntoSandboxContract = defineOperation({
  name: "copy_into_sandbox",
  audience: "local",
  description: "Copies a file or folder of this machine into a live sandbox of this user, whichever process has it.",
  request: copyInRequestSchema,
  response: copyResponseSchema,
  routes: [],
});

/** Copies a file or folder of a live sandbox to this machine. */
export const copyOutOfSandboxContract = defineOperation({
  name: "copy_out_of_sandbox",
  audience: "local",
  description: "Copies a file or folder out of a live sandbox of this user onto this machine, and writes nowhere else.",
  request: copyOutRequestSchema,
  response: copyResponseSchema,
  routes: [],
});

export type CopyResponse = z.output<typeof copyResponseSchema>;

/** Request of `pack_files`. */
const packFilesRequestSchema = z.strictObject({
  sandbox_id: sandboxId,
  source: z.string().describe("Absolute path of a file or folder inside."),
  ...copyLimitFields,
});

/** Request of `unpack_files`. */
const unpackFilesRequestSchema = z.strictObject({
  sandbox_id: sandboxId,
  target: z.string().describe("Absolute path inside: a folder that exists gets the source in it, else its new name."),
  name: z
    .string()
    .regex(/^(?!\.{1,2}$)[^/\0]{1,255}$/, "expected a name without a slash, such as data.csv")
    .describe("Name of the source, for a folder that gets it."),
  content_only: z.boolean().optional().describe("What is in the folder is meant, without the folder; default false."),
  ...copyLimitFields,
});

/** A file or folder of a live sandbox as a tar archive. */
export const packFilesContract = defineOperation({
  name: "pack_files",
  audience: "everyone",
  description:
    "Sends a file, or a folder with all below it, of one of your live sandboxes as a tar archive. Its names and contents are the sandbox's: whoever unpacks it must let nothing lead out.",
  request: packFilesRequestSchema,
  response: copyResponseSchema,
  routes: [],
  channel: "/api/sandbox/{sandbox_id}/pack",
});

/** Unpacks a tar archive into a live sandbox. */
export const unpackFilesContract = defineOperation({
  name: "unpack_files",
  audience: "everyone",
  description:
    "Takes a tar archive into one of your live sandboxes: either one file, or a folder `./` and all below it in the order of a walk.",
  request: unpackFilesRequestSchema,
  response: copyResponseSchema,
  routes: [],
  channel: "/api/sandbox/{sandbox_id}/unpack",
});
