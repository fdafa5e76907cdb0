import * as z from "zod";
import { isPattern } from "../../policy/mounts/blocked-pattern.ts";
import { hostPath } from "../schema/leaf-schemas.ts";

const flag = z.boolean("true or false");

/** The mount allowlist as written in its file; each message is a phrase that follows "expected". */
export const allowlistSchema = z.strictObject(
  {
    allowedRoots: z
      .array(
        z.strictObject(
          {
            path: hostPath(),
            allowReadWrite: flag.default(false),
            description: z.string("text").nullable().default(null),
          },
          "an object with path, allowReadWrite and description",
        ),
        "a list of folders",
      )
      .max(1000, "at most 1000 folders"),
    blockedPatterns: z
      .array(z.string("text").refine(isPattern, "a name, or names with slashes between them"), "a list of names")
      .max(1000, "at most 1000 names")
      .default([]),
    nonMainReadOnly: flag.default(true),
  },
  "an object with allowedRoots, blockedPatterns and nonMainReadOnly",
);

/** A mount allowlist with its defaults: nothing is writable unless it says so. */
export type MountAllowlist = z.output<typeof allowlistSchema>;
