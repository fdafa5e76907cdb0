import { z } from "zod";
import { commandsSchema } from "../contract/command-schema.ts";
import { maxSetupCommands } from "../contract/request-maxima.ts";
import { labelsSchema } from "../contract/labels-schema.ts";
import { defineOperation } from "../contract/operation-contract.ts";
import { limitsShown, runSettings } from "../contract/run-settings-schema.ts";
import { secretsSchema } from "../contract/secrets-schema.ts";
import { warningLines } from "../contract/program-text.ts";
import { isolationLevels, toolingFilesModes } from "../contract/wire-values.ts";
import { variables } from "./environment-schema.ts";

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
    readOnly: false,
    destructive: false,
    idempotent: false,
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
