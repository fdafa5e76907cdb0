import { z } from "zod";
import { defineOperation } from "./contract/operation-contract.ts";

const listPackagesRequestSchema = z.strictObject({});

const prunePackagesRequestSchema = z.strictObject({
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
  installed_by: z.string().describe("bun, npm or pip; project/NAME for dependencies of a project."),
  platform: z.string().describe("The interpreter, system, processor and C library that it fits."),
  engine: z.string().describe("Where they were installed."),
  image: z
    .string()
    .describe("Digest of the image that installed them; host: and a digest for this machine's programs."),
  principal: z.string().nullable().describe("Who alone may use them, having chosen the image; null: all."),
  size_mb: z.number(),
  created_at: z.string(),
  last_used_at: z.string(),
  in_use: z.boolean(),
});

const listPackagesResponseSchema = z.object({
  sets: z.array(packageSet).describe("The one used last first."),
  size_mb: z.number().describe("Of all sets together."),
  max_mb: z.number().describe("Beyond it those not used for longest are removed."),
});

const prunePackagesResponseSchema = z.object({
  removed: z.array(packageSet),
  size_mb: z.number().describe("Of what is left."),
});

/** The content of the package cache (SPEC PK4). */
export const listPackagesContract = defineOperation({
  name: "list_packages",
  audience: "local",
  description: "Lists the installed packages that are kept for later runs, and how much disk they take.",
  request: listPackagesRequestSchema,
  response: listPackagesResponseSchema,
  routes: [],
});

/** Prunes the package cache. */
export const prunePackagesContract = defineOperation({
  name: "prune_packages",
  audience: "local",
  description: "Removes the installed packages not used for longest until the rest has the size; none that a run uses.",
  request: prunePackagesRequestSchema,
  response: prunePackagesResponseSchema,
  routes: [],
});

/** A set of packages in the cache. */
export type PackageSetRow = z.output<typeof packageSet>;
