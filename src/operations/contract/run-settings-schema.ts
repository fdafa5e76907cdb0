import { z } from "zod";
import { listOf } from "./bounded-schemas.ts";
import { nameSchema } from "./name-schema.ts";
import { maxDomains } from "./request-maxima.ts";
import { isolationLevels } from "./wire-values.ts";

/** Limits of a request (SPEC RT10); the policy checks their ranges and the deployment's ceilings. */
const limitsSchema: z.ZodType<LimitsRequest, LimitsRequest> = z.strictObject({
  cpus: z.number().optional().describe("CPUs' worth of time, fractions allowed."),
  memory_mb: z.number().optional().describe("Memory in MiB, without swap."),
  timeout_seconds: z.number().optional().describe("Time for the program itself, in seconds."),
  pids: z.number().optional().describe("Processes and threads together."),
  disk_mb: z.number().optional().describe("Writable space in MiB."),
});

export interface LimitsRequest {
  readonly cpus?: number | undefined;
  readonly memory_mb?: number | undefined;
  readonly timeout_seconds?: number | undefined;
  readonly pids?: number | undefined;
  readonly disk_mb?: number | undefined;
}

/** The limits that apply to a place, all of them; part of answers. */
export const limitsShown: z.ZodObject<Record<keyof LimitsRequest, z.ZodNumber>> = z.object({
  cpus: z.number(),
  memory_mb: z.number(),
  timeout_seconds: z.number(),
  pids: z.number(),
  disk_mb: z.number(),
});

/** Settings that every request which starts a sandbox takes (SPEC RT10); spread into its schema. */
export const runSettings = {
  name: nameSchema,
  limits: limitsSchema.optional().describe("Limits; each defaults to the deployment's for this kind of work."),
  network: z
    .union([z.string(), listOf(z.string(), maxDomains)])
    .optional()
    .describe(
      'What the code may reach: "none" (the default), "registries" (the package registries that the host is configured for), "open" (every public name, if the deployment allows it), or a list of domains such as ["example.com", "*.example.org", "example.net:8443"].',
    ),
  image: z.string().optional().describe("Container image; refused by engines without images."),
  engine: z.string().optional().describe("Engine name, or auto; default: the deployment's."),
  oci_runtime: z.string().optional().describe("OCI runtime, by the engine's name for it; default: the engine's own."),
  min_isolation: z.enum(isolationLevels).optional().describe("Refuse engines with weaker isolation than this."),
} as const;
