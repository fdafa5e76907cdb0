import { z } from "zod";
import { isolationLevels } from "../../engines/capabilities.ts";
import { toolingFilesModes } from "../../policy/tooling/tooling-files.ts";
import { outcomes } from "../../sandbox/outcome.ts";
import { runSettings } from "../run-settings.ts";
import { secretsSchema } from "../secrets-schema.ts";
import { wireErrorSchema } from "../wire-error-schema.ts";
import { toolingFilesSchema } from "./tooling-schema.ts";

const envId = z.string().describe("The environment's id, as create_environment gave it.");
const variables = z.record(z.string(), z.string());

/** Request of `create_environment` (SPEC EV1). */
export const createEnvironmentRequestSchema = z.strictObject({
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
  ...runSettings,
  image: z.string().describe("Container image whose tools the commands use; pulled when it is missing."),
  environment: variables.optional().describe("Environment variables of every command."),
  secrets: secretsSchema.optional(),
  env: variables.optional().describe("The same as environment."),
  setup_commands: z
    .array(z.array(z.string()))
    .optional()
    .describe(
      'Commands that run once as root before the environment is handed out, with the package registries as their network, such as [["pip", "install", "ruff"]]; each a program and its arguments. They can read the project and not change it.',
    ),
  install_commands: z
    .array(z.array(z.string()))
    .optional()
    .describe(
      'Commands that run once after those, as the owner of the project, which they can change, with the package registries as their network, such as [["npm", "ci"]].',
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
export const createEnvironmentResponseSchema = z.object({
  env_id: z.string(),
  container_id: z.string().describe("The engine's id of the container."),
  sandbox_id: z.string(),
  mount_path: z.string().describe("Where the project is, and where commands start."),
  image: z.string(),
  engine: z.string(),
  isolation: z.enum(isolationLevels),
  oci_runtime: z.string().optional(),
  read_only: z.boolean().describe("Whether the project cannot be changed."),
  tooling_files: z.enum(toolingFilesModes),
  warnings: z.array(z.string()).describe("Substitutes and reductions that apply."),
});

/** Request of `run_command` (SPEC EV2). */
export const runCommandRequestSchema = z.strictObject({
  env_id: envId,
  command: z
    .array(z.string())
    .min(1, 'expected a program and its arguments, such as ["npm", "test"]')
    .describe('Program and arguments, such as ["npm", "test"]; for a shell line ["sh", "-c", "..."].'),
  environment: variables.optional().describe("Environment variables of this command; they win over the environment's."),
  env: variables.optional().describe("The same as environment."),
  secrets: secretsSchema.optional(),
  cwd: z.string().optional().describe("Folder to start in, absolute or relative to /workdir, which is the default."),
  timeout_seconds: z.number().optional().describe("Time for the command; default: the environment's, else 120."),
});

/** Response of `run_command`. */
export const runCommandResponseSchema = z.object({
  outcome: z.enum(outcomes).describe("The one verdict."),
  exit_code: z
    .number()
    .nullable()
    .describe("127: no such program; 128 + N for death by signal N; null when the container was lost."),
  stdout_tail: z.string().describe("The newest 64 KiB."),
  stderr_tail: z.string().describe("The newest 64 KiB."),
  stdout_dropped_bytes: z.number().describe("Bytes that came before stdout_tail."),
  stderr_dropped_bytes: z.number(),
  duration_ms: z.number(),
  timed_out: z.boolean(),
  restarted: z
    .boolean()
    .describe("The environment has another container than at the command before: files outside /workdir are fresh."),
  tooling_files: toolingFilesSchema.describe(
    "Files that tools of the project's owner run by themselves and that changed while the command ran; of many in one folder the folder; at most 100: to be looked at before such a tool is used there.",
  ),
  warnings: z.array(z.string()),
  error: wireErrorSchema.optional(),
});

export const listEnvironmentsRequestSchema = z.strictObject({});

export const listEnvironmentsResponseSchema = z.object({
  environments: z.array(
    z.object({
      env_id: z.string(),
      container_id: z.string().nullable().describe("Null while it has none: the next command starts one."),
      mount_path: z.string(),
      image: z.string(),
      engine: z.string(),
      created_at: z.string(),
      read_only: z.boolean(),
      running_commands: z.number(),
      running_processes: z.number().describe("Background processes."),
    }),
  ),
});

export const destroyEnvironmentRequestSchema = z.strictObject({ env_id: envId });

export const destroyEnvironmentResponseSchema = z.object({ env_id: z.string(), destroyed: z.literal(true) });

export type CreateEnvironmentRequest = z.input<typeof createEnvironmentRequestSchema>;
export type CreateEnvironmentResponse = z.output<typeof createEnvironmentResponseSchema>;
export type RunCommandRequest = z.input<typeof runCommandRequestSchema>;
export type RunCommandResponse = z.output<typeof runCommandResponseSchema>;
export type ListEnvironmentsResponse = z.output<typeof listEnvironmentsResponseSchema>;
export type DestroyEnvironmentRequest = z.input<typeof destroyEnvironmentRequestSchema>;
export type DestroyEnvironmentResponse = z.output<typeof destroyEnvironmentResponseSchema>;
