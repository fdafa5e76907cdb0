import { z } from "zod";
import { maxPackages } from "./contract/wire-values.ts";
import {
  listOf,
  commandOrNothingSchema,
  commandSchema,
  runSettings,
  secretsSchema,
} from "./contract/request-schemas.ts";
import { defineOperation } from "./contract/operation-contract.ts";
import { programResponse, toolingFilesSchema } from "./contract/program-schema.ts";
import { variables } from "./environments-contract.ts";

const runInProjectRequestSchema = z.strictObject({
  project_path: z.string().min(1).describe("Folder of this machine, absolute or relative to the working directory."),
  command: commandSchema.describe("Shell line, or program and arguments as a list."),
  setup_command: commandOrNothingSchema
    .optional()
    .describe("Command that installs first, with the package registries; default: by the lockfile; empty: nothing."),
  read_only: z.boolean().optional().describe("The command cannot change the project; default false."),
  packages: listOf(z.string(), maxPackages).optional().describe("Packages of the project's language, installed first."),
  environment: variables.optional().describe("Environment variables of the command."),
  secrets: secretsSchema.optional(),
  ...runSettings,
});

const runInProjectResponseSchema = z.object({
  ...programResponse,
  read_only: z.boolean().describe("Whether the project could not be changed."),
  image: z.string().optional(),
  setup_command: z.string().optional().describe("What was run to install."),
  packages_installed: z.array(z.string()).optional(),
  tooling_files: toolingFilesSchema.describe(
    "Files that tools of the project's owner run by themselves and that changed while the command ran; at most 100.",
  ),
});

/** `run_in_project`: one command in a project of this machine, in a sandbox that is removed right after (SPEC UI1). */
export const runInProjectContract = defineOperation({
  name: "run_in_project",
  audience: "local",
  description:
    "Runs one command in a fresh sandbox that has a project of this machine, with its dependencies installed; what it writes there is the owner's.",
  request: runInProjectRequestSchema,
  response: runInProjectResponseSchema,
  freshSandbox: true,
  routes: [],
});

export type RunInProjectResponse = z.output<typeof runInProjectResponseSchema>;
