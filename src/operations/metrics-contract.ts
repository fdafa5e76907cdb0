import { z } from "zod";
import { defineOperation, readingTool } from "./contract/operation-contract.ts";
import { sandboxId } from "./sandboxes-contract.ts";
import { nameShown } from "./contract/request-schemas.ts";
import { alertKinds, alertSchema, alertStates, alertLines } from "./contract/program-schema.ts";

/** What a sandbox used at one moment (SPEC ME1). */
const sampleFields = {
  timestamp: z.string().describe("When it was taken, RFC 3339."),
  cpu_percent: z.number().nullable().describe("Since the sample before; 100 is one CPU."),
  memory_mb: z.number().nullable(),
  memory_cache_mb: z.number().nullable().describe("Of it, what holds files."),
  scratch_mb: z.number().nullable().describe("In its folders in memory: what its disk_mb is the limit of."),
  network_rx_bytes: z.number().nullable().describe("Network and disk: since the start."),
  network_tx_bytes: z.number().nullable(),
  disk_read_bytes: z.number().nullable(),
  disk_write_bytes: z.number().nullable(),
  uptime_seconds: z.number(),
} as const;

/** Limits that `cpu_percent` and `memory_mb` relate to. */
const sampleLimits: z.ZodObject<{ cpus: z.ZodNumber; memory_mb: z.ZodNumber }> = z.object({
  cpus: z.number(),
  memory_mb: z.number(),
});

const sampleSchema = z.object(sampleFields);

/** A sample as clients read it; null where the engine does not report a value. */
export type WireSample = z.output<typeof sampleSchema>;

/** Samples in one answer. */
const maxSamples = 1_000;

const getMetricsRequestSchema = z.strictObject({
  sandbox_id: sandboxId.describe("sandbox_id or container_id of a result; also for a while after its end."),
  samples: z.int().min(1).max(maxSamples).optional().describe("How many, the newest; default 60, at most 1000."),
  since: z.iso.datetime({ offset: true }).optional().describe("RFC 3339: only those taken from then on."),
});

const getMetricsResponseSchema = z.object({
  container_id: z.string(),
  engine: z.string(),
  kind: z.string(),
  running: z.boolean(),
  limits: sampleLimits,
  samples: z
    .array(z.object({ container_id: z.string(), ...sampleFields }))
    .describe("Oldest first, one a second for ten minutes, one in ten seconds before; null: the engine cannot tell."),
});

/** `get_metrics`: what one of the caller's sandboxes used, each second. */
export const getMetricsContract = defineOperation({
  name: "get_metrics",
  audience: "everyone",
  description: "Shows the CPU, memory, network and disk use of one of your sandboxes, second by second.",
  request: getMetricsRequestSchema,
  response: getMetricsResponseSchema,
  routes: [{ method: "GET", path: "/api/sandbox/{sandbox_id}/metrics" }],
  tool: {
    title: "Metrics of a sandbox",
    ...readingTool,
    text: ({ container_id: id, running, limits, samples }) => {
      const last = samples.at(-1);
      const state = running ? "runs" : "has ended";
      if (last === undefined) return `${id} ${state}; no sample of it was taken.`;
      return `${id} ${state}. ${samples.length} samples, the last at ${last.timestamp}: ${inWords(last, limits)}.`;
    },
  },
});

export type GetMetricsResponse = z.output<typeof getMetricsResponseSchema>;

function inWords(sample: WireSample, limits: z.output<typeof sampleLimits>): string {
  const of = (value: number | null, unit: string): string => (value === null ? "unknown" : `${value}${unit}`);
  return [
    `CPU ${of(sample.cpu_percent, " %")} of ${limits.cpus * 100} %`,
    `memory ${of(sample.memory_mb, " MB")} of ${limits.memory_mb} MB`,
    `network ${of(sample.network_rx_bytes, "")} bytes in, ${of(sample.network_tx_bytes, "")} out`,
    `disk ${of(sample.disk_read_bytes, "")} bytes read, ${of(sample.disk_write_bytes, "")} written`,
  ].join("; ");
}

const sandboxStatsRequestSchema = z.strictObject({
  id: z.string().optional().describe("Only this sandbox; default: all of this user's on this machine."),
});

/** A sandbox with its newest sample. */
const sandboxStatsRow: z.ZodObject<{
  container_id: z.ZodString;
  name: typeof nameShown;
  engine: z.ZodString;
  kind: z.ZodString;
  limits: typeof sampleLimits;
  sample: z.ZodNullable<z.ZodObject<typeof sampleFields>>;
}> = z.object({
  container_id: z.string(),
  name: nameShown,
  engine: z.string(),
  kind: z.string(),
  limits: sampleLimits,
  sample: z.object(sampleFields).nullable().describe("The newest; null in its first second."),
});

/** What the sandboxes of this machine's user currently use, whichever process owns them. */
export const sandboxStatsContract = defineOperation({
  name: "sandbox_stats",
  audience: "local",
  description: "Shows what the sandboxes of this user use now, whichever process of Glovebox has them.",
  request: sandboxStatsRequestSchema,
  response: z.object({ sandboxes: z.array(sandboxStatsRow) }),
  routes: [],
});

export type SandboxStatsRow = z.output<typeof sandboxStatsRow>;

/** Alerts in one answer. */
const maxAlerts = 500;

const listAlertsRequestSchema = z.strictObject({
  sandbox_id: sandboxId.optional().describe("Only of this sandbox."),
  kind: z.enum(alertKinds).optional().describe("Only of this kind."),
  state: z.enum(alertStates).optional().describe("Only starts, or only ends."),
  since: z.iso.datetime({ offset: true }).optional().describe("RFC 3339: only from then on."),
  limit: z.int().min(1).max(maxAlerts).optional().describe("How many, the newest; default 100, at most 500."),
});

const listAlertsResponseSchema = z.object({
  alerts: z.array(alertSchema).describe("Oldest first; 500 are kept."),
});

/** `list_alerts`: what happened to the caller's sandboxes. */
export const listAlertsContract = defineOperation({
  name: "list_alerts",
  audience: "everyone",
  description: "Lists the newest alerts of your sandboxes, including ended ones.",
  request: listAlertsRequestSchema,
  response: listAlertsResponseSchema,
  routes: [{ method: "GET", path: "/api/alerts" }],
  tool: {
    title: "Alerts",
    ...readingTool,
    text: ({ alerts }) =>
      alerts.length === 0
        ? "No alerts."
        : alerts.map((alert) => `${alert.timestamp} ${alert.container_id} ${alertLines([alert]).join("")}`).join("\n"),
  },
});

export type ListAlertsRequest = z.input<typeof listAlertsRequestSchema>;
