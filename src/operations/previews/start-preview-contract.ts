import { z } from "zod";
import { textsByName } from "../contract/bounded-schemas.ts";
import { commandOrNothingSchema, commandSchema } from "../contract/command-schema.ts";
import { maxEnvironmentEntries } from "../contract/request-maxima.ts";
import { labelsSchema } from "../contract/labels-schema.ts";
import { defineOperation } from "../contract/operation-contract.ts";
import { runSettings } from "../contract/run-settings-schema.ts";
import { secretsSchema } from "../contract/secrets-schema.ts";
import { previewSchema, previewText } from "./preview-schema.ts";

/** Maximum seconds that a start may wait for the port, and the default. */
const wait = { max: 300, default: 30 } as const;

/** Request of a preview (SPEC PV1). */
const startPreviewRequestSchema = z.strictObject({
  project_path: z
    .string()
    .describe(
      "The project's folder on the host. It is copied into the sandbox, without node_modules, caches, .git and what .gitignore names, and never written.",
    ),
  command: commandSchema
    .optional()
    .describe("Command that serves the page and stays in the foreground; default: the project's own, as npm run dev."),
  port: z
    .number()
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe(
      "TCP port that it listens on, also its PORT; default: as the command or its tool says, else 3000. Another is followed.",
    ),
  setup_command: commandOrNothingSchema
    .optional()
    .describe(
      'Command that installs what it needs, with the package registries as its network; default: the install of the project\'s lockfile. "": nothing is installed.',
    ),
  environment: textsByName(maxEnvironmentEntries)
    .optional()
    .describe("Environment variables of the installation and the command."),
  secrets: secretsSchema.optional(),
  timeout_seconds: z.number().optional().describe("Ends by itself after this time; default 1800."),
  wait_seconds: z
    .number()
    .int()
    .min(0)
    .max(wait.max)
    .optional()
    .describe(`How long to wait for the port to answer before the answer says starting; default ${wait.default}.`),
  include_ignored: z
    .boolean()
    .optional()
    .describe("Copy node_modules and whatever else is left out otherwise; default false."),
  labels: labelsSchema.optional(),
  dockerfile: z
    .boolean()
    .optional()
    .describe(
      "Build the project's own Dockerfile, in a sandbox, and serve from its image; only where the deployment allows it, and without `image`. Default false.",
    ),
  ...runSettings,
  image: z
    .string()
    .optional()
    .describe("Container image; default: the deployment's for the language of the command, the lockfile or the files."),
});

/** `start_preview`: a project's page, served from a sandbox. */
export const startPreviewContract = defineOperation({
  name: "start_preview",
  audience: "everyone",
  description: [
    "Serves a project's page from a copy of the project in a fresh sandbox, at a URL for a browser: HTTP and WebSockets, so that hot reload works.",
    "Its dependencies are installed first. It lives until stop_preview or its time limit. What goes wrong in it later comes as alerts of kind preview_error: see preview_status.",
  ].join(" "),
  request: startPreviewRequestSchema,
  response: previewSchema,
  routes: [{ method: "POST", path: "/api/sandbox/preview" }],
  tool: {
    title: "Start a preview",
    readOnly: false,
    destructive: false,
    idempotent: false,
    openWorld: true,
    mayTakeLong: true,
    text: previewText,
  },
});

/** Seconds to wait for a request. */
export function startWaitSeconds(asked: number | undefined): number {
  return asked ?? wait.default;
}

export type StartPreviewResponse = z.output<typeof previewSchema>;
