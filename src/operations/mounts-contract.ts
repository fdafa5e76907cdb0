import { z } from "zod";
import { defineOperation } from "./contract/operation-contract.ts";
import { mountUses } from "./contract/wire-values.ts";

const checkMountRequestSchema = z.strictObject({
  path: z.string().min(1).describe("Path on this machine, absolute or relative to the working directory."),
  use: z
    .enum(mountUses)
    .optional()
    .describe("As a project (or a file of one) or as an additional mount; default: both."),
  access: z
    .enum(["read-only", "read-write"])
    .optional()
    .describe("What is asked for; default read-write, which is brought down to what is allowed."),
  is_main: z.boolean().optional().describe("Whether it is for the main group; default: no."),
  target: z.string().optional().describe("Relative path below /workspace/extra; default: the name of what is mounted."),
});

const verdict = z.object({
  use: z.enum(mountUses),
  allowed: z.boolean(),
  read_only: z.boolean(),
  rule: z.string().describe("Name of the rule that decided; docs/mounts.md explains each."),
  root: z.string().nullable().describe("Real path of the root that it lies below."),
  listed_as: z.string().nullable().describe("Where that root is listed, such as allowedRoots[0]."),
  pattern: z.string().nullable().describe("The blocked pattern that refused it."),
  target: z.string().nullable().describe("Path in the sandbox, for an additional mount."),
  explanation: z.string(),
  what_would_allow: z.string().nullable().describe("Null where it is allowed as asked."),
});

const checkMountResponseSchema = z.object({
  path: z.string().describe("As it was given."),
  real_path: z.string().nullable().describe("After all links; null when nothing could be opened."),
  kind: z.enum(["folder", "file", "other"]).nullable(),
  verdicts: z.array(verdict),
  notices: z.array(z.string()),
});

const listMountsRequestSchema = z.strictObject({});

const root = z.object({
  path: z.string(),
  source: z.enum(["allowlist", "project_roots", "working_directory"]),
  listed_as: z.string(),
  allow_read_write: z.boolean(),
  description: z.string().nullable(),
  exists: z.boolean(),
});

const listMountsResponseSchema = z.object({
  allowlist: z.string().nullable().describe("Path of the mount allowlist in force."),
  looked_for: z.array(z.string()).describe("Where it is looked for, first place first."),
  non_main_read_only: z.boolean(),
  roots: z.array(root),
  blocked_patterns: z.array(
    z.object({
      pattern: z.string(),
      what: z.string().nullable().describe("What it stands for; null for one of the allowlist's own."),
    }),
  ),
  protected_places: z.array(z.object({ path: z.string(), what: z.string() })),
  notices: z.array(z.string()),
});

/** Explains what the mount gate says about a path, for the operator of this machine. */
export const checkMountContract = defineOperation({
  name: "check_mount",
  audience: "local",
  description: "Explains whether a sandbox can get a host path, by which rule, and what would allow it.",
  request: checkMountRequestSchema,
  response: checkMountResponseSchema,
  routes: [],
});

/** The mount policy in force, for the operator of this machine. */
export const listMountsContract = defineOperation({
  name: "list_mounts",
  audience: "local",
  description: "Lists which folders of this machine sandboxes may get, and what they never get.",
  request: listMountsRequestSchema,
  response: listMountsResponseSchema,
  routes: [],
});

export type CheckMountRequest = z.input<typeof checkMountRequestSchema>;

/** The mount gate's verdict on one path; contains paths of this machine, so for its operator only. */
export type CheckMountResponse = z.output<typeof checkMountResponseSchema>;

/** The current mount policy; contains paths of this machine, so for its operator only. */
export type ListMountsResponse = z.output<typeof listMountsResponseSchema>;
