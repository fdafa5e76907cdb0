import { z } from "zod";
import { defineOperation } from "../contract/operation-contract.ts";
import { sandboxId } from "../sandboxes/sandbox-id-schema.ts";
import { sampleFields, sampleLimits, type WireSample } from "./sample-schema.ts";

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
    readOnly: true,
    destructive: false,
    idempotent: true,
    openWorld: false,
    mayTakeLong: false,
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
