import { z } from "zod";
import { defineOperation } from "./contract/operation-contract.ts";
import { about as aboutPlace, place } from "./contract/place-schema.ts";
import { toolingFilesSchema } from "./environments/tooling-schema.ts";
import { sandboxId } from "./sandboxes/sandbox-id-schema.ts";

const paths = [
  "/api/sessions/{session_id}/files/{path}",
  "/api/environments/{env_id}/files/{path}",
  "/api/sandbox/{sandbox_id}/files/{path}",
] as const;

const target = {
  ...place,
  sandbox_id: sandboxId.optional(),
  path: z
    .string()
    .min(1)
    .max(4096)
    .describe(
      "Path inside; relative ones are below the folder that programs start in: /workdir, in a session /work. In a sandbox absolute.",
    ),
} as const;

const about = { ...aboutPlace, sandbox_id: z.string().optional(), path: z.string() } as const;

const downloadFileRequestSchema = z.strictObject({
  ...target,
  offset: z.int().min(0).optional().describe("First byte; default 0."),
  limit: z.int().min(1).optional().describe("Most bytes; default: to the end."),
  last: z.int().min(1).optional().describe("The last bytes, this many; instead of offset and limit."),
});

const downloadFileResponseSchema = z.object({
  ...about,
  sent_bytes: z.number().describe("Bytes that were sent."),
});

/** `download_file`: a file of a place or of a live sandbox, or a part of it, as the output of the call. */
export const downloadFileContract = defineOperation({
  name: "download_file",
  audience: "everyone",
  description:
    "Sends a file of a session, an environment or one of your live sandboxes as bytes, of any size, or the part that Range names.",
  request: downloadFileRequestSchema,
  response: downloadFileResponseSchema,
  routes: [],
  bytes: { direction: "down", paths },
});

const uploadFileRequestSchema = z.strictObject({
  ...target,
  size_bytes: z.int().min(0).optional().describe("Bytes that will come; fewer or more are refused."),
});

const uploadFileResponseSchema = z.object({
  ...about,
  restarted: z.boolean().describe("Whether its sandbox is a new one, without files that only the last one had."),
  warnings: z.array(z.string()),
  size_bytes: z.number(),
  tooling_files: toolingFilesSchema
    .optional()
    .describe("In an environment: files that tools of the project's owner run by themselves and that have changed."),
});

/** `upload_file`: the input of the call as a file of a place or of a live sandbox. */
export const uploadFileContract = defineOperation({
  name: "upload_file",
  audience: "everyone",
  description:
    "Writes a file of any size, sent as bytes, into a session, an environment or one of your live sandboxes. Missing folders are made; a file there stays as it is until all has come.",
  request: uploadFileRequestSchema,
  response: uploadFileResponseSchema,
  routes: [],
  bytes: { direction: "up", paths },
});
