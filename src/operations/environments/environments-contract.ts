import { z } from "zod";
import { labelFilterSchema, labelsShown } from "../contract/labels-schema.ts";
import { nameShown } from "../contract/name-schema.ts";
import { warningLines } from "../contract/program-text.ts";
import { defineOperation } from "../contract/operation-contract.ts";
import { toolingFilesSchema, toolingLines } from "./tooling-schema.ts";
import { envId } from "./environment-schema.ts";

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
    readOnly: true,
    destructive: false,
    idempotent: true,
    openWorld: false,
    mayTakeLong: false,
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
    readOnly: false,
    destructive: true,
    idempotent: false,
    openWorld: false,
    mayTakeLong: false,
    text: ({ env_id: id, tooling_files: tooling, warnings }) =>
      [`Environment ${id} is gone.`, ...toolingLines(tooling), ...warningLines(warnings)].join("\n"),
  },
});
