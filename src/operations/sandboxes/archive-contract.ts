import { z } from "zod";
import { defineOperation } from "../contract/operation-contract.ts";
import { copyLimitFields, copyResponseSchema } from "./copy-contract.ts";
import { sandboxId } from "./sandbox-id-schema.ts";

/** Request of `pack_files`. */
const packFilesRequestSchema = z.strictObject({
  sandbox_id: sandboxId,
  source: z.string().describe("Absolute path of a file or folder inside."),
  ...copyLimitFields,
});

/** Request of `unpack_files`. */
const unpackFilesRequestSchema = z.strictObject({
  sandbox_id: sandboxId,
  target: z.string().describe("Absolute path inside: a folder that exists gets the source in it, else its new name."),
  name: z
    .string()
    .regex(/^(?!\.{1,2}$)[^/\0]{1,255}$/, "expected a name without a slash, such as data.csv")
    .describe("Name of the source, for a folder that gets it."),
  content_only: z.boolean().optional().describe("What is in the folder is meant, without the folder; default false."),
  ...copyLimitFields,
});

/** A file or folder of a live sandbox as a tar archive. */
export const packFilesContract = defineOperation({
  name: "pack_files",
  audience: "everyone",
  description:
    "Sends a file, or a folder with all below it, of one of your live sandboxes as a tar archive. Its names and contents are the sandbox's: whoever unpacks it must let nothing lead out.",
  request: packFilesRequestSchema,
  response: copyResponseSchema,
  routes: [],
  channel: "/api/sandbox/{sandbox_id}/pack",
});

/** Unpacks a tar archive into a live sandbox. */
export const unpackFilesContract = defineOperation({
  name: "unpack_files",
  audience: "everyone",
  description:
    "Takes a tar archive into one of your live sandboxes: either one file, or a folder `./` and all below it in the order of a walk.",
  request: unpackFilesRequestSchema,
  response: copyResponseSchema,
  routes: [],
  channel: "/api/sandbox/{sandbox_id}/unpack",
});
