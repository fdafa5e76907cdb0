import { z } from "zod";
import { alertLines, resultAlerts, warningLines } from "./contract/program-schema.ts";
import { maxEnvironmentEntries, isolationLevels } from "./contract/wire-values.ts";
import {
  nameShown,
  textsByName,
  commandOrNothingSchema,
  commandSchema,
  labelsSchema,
  runSettings,
  secretsSchema,
} from "./contract/request-schemas.ts";
import { wireErrorSchema } from "./contract/wire-messages.ts";
import { defineOperation, readingTool, quietTool } from "./contract/operation-contract.ts";

/** SPEC PV1. */
const previewStatuses = ["starting", "running", "error"] as const;

/** The field `id` of requests about one preview. */
const previewId: z.ZodString = z
  .string()
  .min(1)
  .max(128)
  .describe("The preview's container_id, as start_preview gave it.");

/** A preview as callers see it. */
const previewSchema = z.object({
  container_id: z.string().describe("Identifies the preview, and its sandbox in read_logs and get_metrics."),
  sandbox_id: z.string().describe("The same."),
  name: nameShown,
  url: z.string().describe("Its address for a browser: a separate origin with an unguessable name. Show it in full."),
  direct_url: z
    .string()
    .optional()
    .describe("On 127.0.0.1 of the server's machine, for tools that do not know names below localhost."),
  port: z.number().describe("What the command listens on, inside."),
  status: z.enum(previewStatuses).describe("running: only while the port answers. error: read error and logs."),
  logs: z.string().describe("The newest output, at most 64 KiB, of the installation too; read_logs has more."),
  engine: z.string().optional().describe("Left out before it is known."),
  isolation: z.enum(isolationLevels).optional(),
  image: z.string().optional().describe("Left out where the engine has no images."),
  setup_command: z.string().optional().describe("What was run to install."),
  started_at: z.string().optional().describe("When the command began."),
  ends_at: z.string().optional().describe("When it ends by itself, at the latest."),
  warnings: z.array(z.string()),
  alerts: resultAlerts,
  error: wireErrorSchema.optional().describe("Why the status is error."),
});

export type PreviewRow = z.output<typeof previewSchema>;

/** Maximum characters of output in a text. */
const maxShown = 4_000;

/** Status and address first, then what is wrong and the end of the output. */
function previewText(row: PreviewRow): string {
  const { status, url, direct_url: direct, container_id: id, name, error, logs, alerts, warnings } = row;
  return [
    `${status}: ${url} (preview ${id}${name === null ? "" : `, named ${name}`}${direct === undefined ? "" : `, directly ${direct}`})`,
    ...(error === undefined ? [] : [`${error.error_type}: ${error.message}`, error.suggestion]),
    ...alertLines(alerts),
    ...(logs === "" ? [] : ["logs:", logs.slice(-maxShown).replace(/\n$/, "")]),
    ...warningLines(warnings),
  ].join("\n");
}

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
    ...quietTool,
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

/** How long an answer may wait for a starting preview, in seconds. */
const maxWaitSeconds = 30;

const previewStatusRequestSchema = z.strictObject({
  id: previewId,
  wait_seconds: z
    .number()
    .int()
    .min(0)
    .max(maxWaitSeconds)
    .optional()
    .describe("How long to wait while its status is starting; default 0."),
});

/** `preview_status`: whether a preview answers, its output and what is wrong with it. */
export const previewStatusContract = defineOperation({
  name: "preview_status",
  audience: "everyone",
  description: "Shows whether a preview answers (starting, running or error), with its newest output and alerts.",
  request: previewStatusRequestSchema,
  response: previewSchema,
  routes: [{ method: "GET", path: "/api/sandbox/preview/{id}" }],
  tool: {
    title: "Look at a preview",
    ...readingTool,
    text: previewText,
  },
});

const stopPreviewResponseSchema = z.object({
  container_id: z.string(),
  logs: z.string().describe("Its newest output."),
});

/** `stop_preview`: ends a preview gracefully and removes it. */
export const stopPreviewContract = defineOperation({
  name: "stop_preview",
  audience: "everyone",
  description: "Ends a preview: SIGTERM to its command, SIGKILL 750 ms later, then its sandbox is removed.",
  request: z.strictObject({ id: previewId }),
  response: stopPreviewResponseSchema,
  routes: [{ method: "DELETE", path: "/api/sandbox/preview/{id}" }],
  tool: {
    title: "Stop a preview",
    ...quietTool,
    destructive: true,
    text: ({ container_id: id }) => `Preview ${id} has ended.`,
  },
});
