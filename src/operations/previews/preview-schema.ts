import { z } from "zod";
import { alertLines, resultAlerts } from "../contract/alert-schema.ts";
import { nameShown } from "../contract/name-schema.ts";
import { warningLines } from "../contract/program-text.ts";
import { wireErrorSchema } from "../contract/wire-error-schema.ts";
import { isolationLevels } from "../contract/wire-values.ts";

/** SPEC PV1. */
const previewStatuses = ["starting", "running", "error"] as const;

/** The field `id` of requests about one preview. */
export const previewId: z.ZodString = z
  .string()
  .min(1)
  .max(128)
  .describe("The preview's container_id, as start_preview gave it.");

/** A preview as callers see it. */
export const previewSchema = z.object({
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
export function previewText(row: PreviewRow): string {
  const { status, url, direct_url: direct, container_id: id, name, error, logs, alerts, warnings } = row;
  return [
    `${status}: ${url} (preview ${id}${name === null ? "" : `, named ${name}`}${direct === undefined ? "" : `, directly ${direct}`})`,
    ...(error === undefined ? [] : [`${error.error_type}: ${error.message}`, error.suggestion]),
    ...alertLines(alerts),
    ...(logs === "" ? [] : ["logs:", logs.slice(-maxShown).replace(/\n$/, "")]),
    ...warningLines(warnings),
  ].join("\n");
}
