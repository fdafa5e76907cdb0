import { z } from "zod";

export const listPackagesRequestSchema = z.strictObject({});

export const prunePackagesRequestSchema = z.strictObject({
  max_mb: z
    .number()
    .min(0)
    .optional()
    .describe("What may stay, in MiB; 0 removes all that nobody uses. Default: the deployment's packages.max_mb."),
});

const packageSet = z.object({
  id: z.string(),
  requested: z.array(z.string()).describe("What was asked for together."),
  packages: z.array(z.string()).describe("Everything that was installed for it, with versions."),
  ecosystem: z.enum(["npm", "python"]),
  installed_by: z.string().describe("bun, npm or pip."),
  platform: z.string().describe("The interpreter, system, processor and C library that it fits."),
  size_mb: z.number(),
  created_at: z.string(),
  last_used_at: z.string(),
  in_use: z.boolean(),
});

export const listPackagesResponseSchema = z.object({
  sets: z.array(packageSet).describe("The one used last first."),
  size_mb: z.number().describe("Of all sets together."),
  max_mb: z.number().describe("Beyond it those not used for longest are removed."),
});

export const prunePackagesResponseSchema = z.object({
  removed: z.array(packageSet),
  size_mb: z.number().describe("Of what is left."),
});

/** A set of packages in the cache. */
export type PackageSetRow = z.output<typeof packageSet>;
export type PrunePackagesRequest = z.input<typeof prunePackagesRequestSchema>;
export type ListPackagesResponse = z.output<typeof listPackagesResponseSchema>;
export type PrunePackagesResponse = z.output<typeof prunePackagesResponseSchema>;
