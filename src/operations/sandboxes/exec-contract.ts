import { z } from "zod";
import { textsByName } from "../contract/bounded-schemas.ts";
import { commandSchema } from "../contract/command-schema.ts";
import { maxEnvironmentEntries } from "../contract/request-maxima.ts";
import { defineOperation } from "../contract/operation-contract.ts";
import { sandboxId } from "./sandbox-id-schema.ts";

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
