import { z } from "zod";
import { commandSchema } from "../contract/command-schema.ts";
import { defineOperation } from "../contract/operation-contract.ts";
import { alertLines, resultAlerts } from "../contract/alert-schema.ts";
import { secretsSchema } from "../contract/secrets-schema.ts";
import { warningLines } from "../contract/program-text.ts";
import { wireErrorSchema } from "../contract/wire-error-schema.ts";
import { outcomes } from "../contract/wire-values.ts";
import { envId, variables } from "./environment-schema.ts";
import { toolingFilesSchema, toolingLines } from "./tooling-schema.ts";

/** Request of `run_command` (SPEC EV2). */
const runCommandRequestSchema = z.strictObject({
  env_id: envId,
  command: commandSchema.describe("Shell line, or program and arguments as a list."),
  environment: variables.optional().describe("Environment variables of this command; they win over the environment's."),
  env: variables.optional().describe("The same as environment."),
  secrets: secretsSchema.optional(),
  stdin: z.string().optional().describe("Standard input of the command, as UTF-8; default: empty."),
  tail_bytes: z
    .int()
    .min(1)
    .optional()
    .describe(
      "Bytes of each of stdout_tail and stderr_tail; default 65536, at most max_output_bytes of the configuration (10485760).",
    ),
  cwd: z.string().optional().describe("Folder to start in, absolute or relative to /workdir, which is the default."),
  timeout_seconds: z.number().optional().describe("Time for the command; default: the environment's, else 120."),
});

/** Response of `run_command`. */
const runCommandResponseSchema = z.object({
  outcome: z.enum(outcomes).describe("The one verdict."),
  exit_code: z
    .number()
    .nullable()
    .describe("127: no such program; 128 + N if killed by signal N; null when the container was lost."),
  stdout_tail: z.string().describe("The newest 64 KiB."),
  stderr_tail: z.string().describe("The newest 64 KiB."),
  stdout_dropped_bytes: z.number().describe("Bytes that came before stdout_tail."),
  stderr_dropped_bytes: z.number(),
  duration_ms: z.number(),
  timed_out: z.boolean(),
  policy_digest: z.string().describe("Identifies this run's policy in the store."),
  restarted: z
    .boolean()
    .describe("The environment has another container than at the command before: files outside /workdir are fresh."),
  tooling_files: toolingFilesSchema.describe(
    "Files that tools of the project's owner run by themselves and that changed while the command ran; of many in one folder the folder; at most 100: to be looked at before such a tool is used there.",
  ),
  warnings: z.array(z.string()),
  alerts: resultAlerts,
  error: wireErrorSchema.optional(),
});

/** `run_command`: one command in an environment, to its end. */
export const runCommandContract = defineOperation({
  name: "run_command",
  audience: "everyone",
  description: [
    "Runs a command in an environment to its end; the answer has the newest output. If it fails, read outcome, exit_code and stderr_tail.",
    "Standard input is stdin. At the timeout all that it started is ended. Servers and watchers: start_process.",
  ].join(" "),
  request: runCommandRequestSchema,
  response: runCommandResponseSchema,
  carriesContent: true,
  routes: [{ method: "POST", path: "/api/environments/{env_id}/commands" }],
  tool: {
    title: "Run a command",
    readOnly: false,
    destructive: true,
    idempotent: false,
    openWorld: true,
    mayTakeLong: true,
    text: (response) => {
      const { outcome, exit_code: exitCode, duration_ms: durationMs, error, warnings } = response;
      const exit = outcome === "failed" && exitCode !== null ? ` with exit code ${exitCode}` : "";
      return [
        `${outcome}${exit} after ${durationMs} ms.`,
        ...(error === undefined ? [] : [`${error.error_type}: ${error.message}`, error.suggestion]),
        ...streamLines("stdout", response.stdout_tail, response.stdout_dropped_bytes),
        ...streamLines("stderr", response.stderr_tail, response.stderr_dropped_bytes),
        ...toolingLines(response.tooling_files),
        ...alertLines(response.alerts),
        ...warningLines(warnings),
      ].join("\n");
    },
  },
});

export type RunCommandRequest = z.input<typeof runCommandRequestSchema>;
export type RunCommandResponse = z.output<typeof runCommandResponseSchema>;

function streamLines(name: string, text: string, droppedBytes: number): readonly string[] {
  if (text === "") return [];
  const dropped = droppedBytes === 0 ? "" : ` (the newest part; ${droppedBytes} bytes before it were dropped)`;
  return [`${name}${dropped}:`, text.replace(/\n$/, "")];
}
