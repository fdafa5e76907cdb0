import { z } from "zod";
import { maxEnvironmentEntries, isolationLevels, toolingFilesModes, outcomes } from "./contract/wire-values.ts";
import {
  textsByName,
  commandsSchema,
  maxSetupCommands,
  labelsSchema,
  limitsShown,
  runSettings,
  secretsSchema,
  labelFilterSchema,
  labelsShown,
  nameShown,
  commandSchema,
} from "./contract/request-schemas.ts";
import { defineOperation, readingTool, quietTool } from "./contract/operation-contract.ts";
import { warningLines, alertLines, resultAlerts, toolingFilesSchema, toolingLines } from "./contract/program-schema.ts";
import { wireErrorSchema } from "./contract/wire-messages.ts";

/** The field `env_id` of requests about one environment. */
const envId: z.ZodString = z.string().describe("The environment's id, as create_environment gave it, or its name.");

/** Environment variables by name. */
export const variables: z.ZodRecord<z.ZodString, z.ZodString> = textsByName(maxEnvironmentEntries);

/** Request of `create_environment` (SPEC EV1). */
const createEnvironmentRequestSchema = z.strictObject({
  project_root: z
    .string()
    .optional()
    .describe(
      "Folder of the host that commands see at /workdir, absolute or relative to the working directory; default: an empty folder of the environment's own.",
    ),
  env_id: z
    .string()
    .optional()
    .describe("Name of your choice: letters, digits, hyphens, underscores and dots, at most 64; default: a new one."),
  labels: labelsSchema.optional(),
  ...runSettings,
  image: z.string().optional().describe("Container image whose tools the commands use; default: by the project."),
  environment: variables.optional().describe("Environment variables of every command."),
  secrets: secretsSchema.optional(),
  env: variables.optional().describe("The same as environment."),
  setup_commands: commandsSchema(maxSetupCommands)
    .optional()
    .describe(
      'Commands that run once as root before the environment is handed out, with the package registries as their network, such as ["pip install ruff"]; each a shell line, or a program and its arguments as a list. They can read the project and not change it.',
    ),
  install_commands: commandsSchema(maxSetupCommands)
    .optional()
    .describe(
      'Commands that run once after those, as the owner of the project, which they can change, with the package registries as their network, such as ["npm ci"].',
    ),
  read_only: z.boolean().optional().describe("Commands cannot change the project; default false."),
  tooling_files: z
    .enum(toolingFilesModes)
    .optional()
    .describe(
      "Files of the project that its owner's tools (git, editors, shells, agents) run by themselves, such as .git/config and .vscode: named: the answer of run_command names those that changed; locked: those that exist cannot be changed either, so that some git commands fail. Default: the deployment's, else named.",
    ),
  read_only_root: z
    .boolean()
    .optional()
    .describe("Commands can write to the project and to /tmp only, not to the image's folders; default false."),
});

/** Response of `create_environment`. */
const createEnvironmentResponseSchema = z.object({
  env_id: z.string(),
  container_id: z.string().describe("The engine's id of the container."),
  sandbox_id: z.string(),
  mount_path: z.string().describe("Where the project is, and where commands start."),
  image: z.string(),
  engine: z.string(),
  isolation: z.enum(isolationLevels),
  oci_runtime: z.string().optional(),
  limits: limitsShown.describe("Of its container; timeout_seconds is the default of its commands."),
  network: z.union([z.string(), z.array(z.string())]).describe("What its programs may reach, as requested."),
  read_only: z.boolean().describe("Whether the project cannot be changed."),
  tooling_files: z.enum(toolingFilesModes),
  warnings: z.array(z.string()).describe("Substitutes and reductions that apply."),
});

/** `create_environment`: a container that commands run in until it is destroyed. */
export const createEnvironmentContract = defineOperation({
  name: "create_environment",
  audience: "everyone",
  description: [
    "Starts a container for run_command, to work on a project: its folder is at /workdir, where changes reach the host at once as its owner's.",
    "The rest of the container lives until destroy_environment or an idle hour. Commands never run with more rights than the folder's owner.",
    "No network unless `network` asks.",
  ].join(" "),
  request: createEnvironmentRequestSchema,
  response: createEnvironmentResponseSchema,
  routes: [{ method: "POST", path: "/api/environments" }],
  tool: {
    title: "Start an environment",
    ...quietTool,
    openWorld: true,
    mayTakeLong: true,
    text: ({ env_id: id, image, engine, mount_path: path, warnings }) =>
      [`Environment ${id} is up: ${image} on ${engine}, commands start in ${path}.`, ...warningLines(warnings)].join(
        "\n",
      ),
  },
});

export type CreateEnvironmentRequest = z.input<typeof createEnvironmentRequestSchema>;
export type CreateEnvironmentResponse = z.output<typeof createEnvironmentResponseSchema>;

const listEnvironmentsResponseSchema = z.object({
  environments: z.array(
    z.object({
      env_id: z.string(),
      name: nameShown,
      container_id: z.string().nullable().describe("Null while it has none: the next command starts one."),
      mount_path: z.string(),
      image: z.string(),
      engine: z.string(),
      labels: labelsShown,
      created_at: z.string(),
      read_only: z.boolean(),
      running_commands: z.number(),
      running_processes: z.number().describe("Background processes."),
    }),
  ),
});

/** `list_environments`: the caller's own. */
export const listEnvironmentsContract = defineOperation({
  name: "list_environments",
  audience: "everyone",
  description: "Lists your environments, with what runs in them.",
  request: z.strictObject({ label: labelFilterSchema.optional() }),
  response: listEnvironmentsResponseSchema,
  routes: [{ method: "GET", path: "/api/environments" }],
  tool: {
    title: "List environments",
    ...readingTool,
    text: ({ environments }) =>
      environments.length === 0
        ? "You have no environments."
        : environments
            .map(
              ({ env_id: id, image, engine, running_commands: commands, running_processes: processes }) =>
                `${id}: ${image} on ${engine}, ${commands} commands and ${processes} background processes run`,
            )
            .join("\n"),
  },
});

/** `destroy_environment`: ends what runs in it and removes its container. */
export const destroyEnvironmentContract = defineOperation({
  name: "destroy_environment",
  audience: "everyone",
  description:
    "Ends everything that runs in an environment and removes its container; the project's folder stays as it is.",
  request: z.strictObject({ env_id: envId }),
  response: z.object({
    env_id: z.string(),
    destroyed: z.literal(true),
    tooling_files: toolingFilesSchema.describe(
      "Files that tools of the project's owner run by themselves and that what still ran there changed after the last result; of many in one folder the folder; at most 100.",
    ),
    warnings: z.array(z.string()),
  }),
  routes: [{ method: "DELETE", path: "/api/environments/{env_id}" }],
  tool: {
    title: "Destroy an environment",
    ...quietTool,
    destructive: true,
    text: ({ env_id: id, tooling_files: tooling, warnings }) =>
      [`Environment ${id} is gone.`, ...toolingLines(tooling), ...warningLines(warnings)].join("\n"),
  },
});

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
    ...quietTool,
    destructive: true,
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
