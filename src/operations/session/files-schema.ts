import { z } from "zod";
import { sessionId } from "./schema.ts";

const path = z.string().min(1).max(4096).describe("Path in the session's sandbox; relative ones are below /work.");
const encoding = z.enum(["utf8", "base64"]);

const about = {
  session_id: z.string(),
  restarted: z.boolean().describe("Whether the session's sandbox is a new one."),
  warnings: z.array(z.string()),
} as const;

export const listFilesRequestSchema = z.strictObject({
  session_id: sessionId,
  path: path.optional().describe("The folder; default /work."),
});

export const listFilesResponseSchema = z.object({
  ...about,
  files: z.array(
    z.object({ path: z.string(), type: z.enum(["file", "folder", "link", "other"]), size_bytes: z.number() }),
  ),
  truncated: z.boolean().describe("Whether there are more than are listed."),
});

export const readFileRequestSchema = z.strictObject({
  session_id: sessionId,
  path,
  encoding: encoding.optional().describe("How the content is written; default utf8, and base64 for what is no text."),
  offset: z.int().min(0).optional().describe("First byte; default 0."),
  limit: z.int().min(1).optional().describe("Most bytes; default and at most 10 MiB."),
});

export const readFileResponseSchema = z.object({
  ...about,
  path: z.string(),
  content: z.string(),
  encoding,
  size_bytes: z.number().describe("Of the whole file."),
  truncated: z.boolean().describe("Whether the file goes on behind what was read."),
});

export const writeFileRequestSchema = z.strictObject({
  session_id: sessionId,
  path,
  content: z.string().describe("The whole file, at most 10 MiB."),
  encoding: encoding.optional().describe("How the content is written; default utf8."),
});

export const writeFileResponseSchema = z.object({ ...about, path: z.string(), size_bytes: z.number() });

export type ListFilesRequest = z.input<typeof listFilesRequestSchema>;
export type ListFilesResponse = z.output<typeof listFilesResponseSchema>;
export type ReadFileRequest = z.input<typeof readFileRequestSchema>;
export type ReadFileResponse = z.output<typeof readFileResponseSchema>;
export type WriteFileRequest = z.input<typeof writeFileRequestSchema>;
export type WriteFileResponse = z.output<typeof writeFileResponseSchema>;
