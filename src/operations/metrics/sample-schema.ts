import { z } from "zod";

/** What a sandbox used at one moment (SPEC ME1). */
export const sampleFields = {
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
export const sampleLimits: z.ZodObject<{ cpus: z.ZodNumber; memory_mb: z.ZodNumber }> = z.object({
  cpus: z.number(),
  memory_mb: z.number(),
});

const sampleSchema = z.object(sampleFields);

/** A sample as clients read it; null where the engine does not report a value. */
export type WireSample = z.output<typeof sampleSchema>;
