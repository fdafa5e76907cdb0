import { z } from "zod";
import { defineOperation, readingTool, quietTool, placeRoutes } from "./contract/operation-contract.ts";
import { aboutPlace, place, placeOrNewSession } from "./contract/request-schemas.ts";
import { warningLines, toolingFilesSchema, toolingLines } from "./contract/program-schema.ts";
import { sandboxId } from "./sandboxes-contract.ts";

const path = z
  .string()
  .min(1)
  .max(4096)
  .describe("Path inside; relative ones are below the folder that programs start in: /workdir, in a session /work.");

const encoding = z.enum(["utf8", "base64"]);

const about = {
  ...aboutPlace,
  restarted: z.boolean().describe("Whether its sandbox is a new one, without files that only the last one had."),
  warnings: z.array(z.string()),
} as const;

const listFilesRequestSchema = z.strictObject({
  ...place,
  path: path.optional().describe("The folder; default: the one that programs start in."),
});

const listFilesResponseSchema = z.object({
  ...about,
  files: z.array(
    z.object({ path: z.string(), type: z.enum(["file", "folder", "link", "other"]), size_bytes: z.number() }),
  ),
  truncated: z.boolean().describe("Whether there are more than are listed."),
});

/** `list_files`: what is in a folder of an environment or a session. */
export const listFilesContract = defineOperation({
  name: "list_files",
  audience: "everyone",
  description: "Lists a folder of an environment (env_id) or a session of run_code. Follows no link.",
  request: listFilesRequestSchema,
  response: listFilesResponseSchema,
  routes: placeRoutes("GET", "/files"),
  tool: {
    title: "List files",
    ...readingTool,
    text: ({ files, truncated, warnings }) =>
      [
        ...(files.length === 0 ? ["The folder is empty."] : []),
        ...files.map(({ path, type, size_bytes: size }) =>
          type === "file" ? `${path} (${size} bytes)` : `${path} (${type})`,
        ),
        ...(truncated ? ["There are more."] : []),
        ...warningLines(warnings),
      ].join("\n"),
  },
});

const readFileRequestSchema = z.strictObject({
  ...place,
  path,
  encoding: encoding.optional().describe("How the content is written; default utf8, and base64 for what is no text."),
  offset: z.int().min(0).optional().describe("First byte; default 0."),
  limit: z.int().min(1).optional().describe("Most bytes; default and at most 10 MiB."),
});

const readFileResponseSchema = z.object({
  ...about,
  path: z.string(),
  content: z.string(),
  encoding,
  size_bytes: z.number().describe("Of the whole file."),
  truncated: z.boolean().describe("Whether the file goes on behind what was read."),
});

/** `read_file`: a file of an environment or a session, or a piece of it. */
export const readFileContract = defineOperation({
  name: "read_file",
  audience: "everyone",
  description: "Reads a file, or a piece of it, of an environment (env_id) or a session of run_code.",
  request: readFileRequestSchema,
  response: readFileResponseSchema,
  routes: placeRoutes("GET", "/files/{path}"),
  tool: {
    title: "Read a file",
    ...readingTool,
    text: ({ path, content, encoding, size_bytes: size, truncated, warnings }) =>
      [
        `${path}, ${size} bytes${encoding === "base64" ? ", in base64" : ""}${truncated ? ", of which a part was read" : ""}:`,
        content,
        ...warningLines(warnings),
      ].join("\n"),
  },
});

const writeFileRequestSchema = z.strictObject({
  ...placeOrNewSession,
  path,
  content: z.string().describe("The whole file, at most 10 MiB."),
  encoding: encoding.optional().describe("How the content is written; default utf8."),
});

const writeFileResponseSchema = z.object({
  ...about,
  path: z.string(),
  size_bytes: z.number(),
  tooling_files: toolingFilesSchema
    .optional()
    .describe("In an environment: files that tools of the project's owner run by themselves and that have changed."),
});

/** `write_file`: a file into an environment or a session. */
export const writeFileContract = defineOperation({
  name: "write_file",
  audience: "everyone",
  description:
    "Writes a file into an environment (env_id) or a session (begun if there is none): folders are made, a file there is replaced. It lasts as long as its place.",
  request: writeFileRequestSchema,
  response: writeFileResponseSchema,
  carriesContent: true,
  routes: placeRoutes("PUT", "/files"),
  tool: {
    title: "Write a file",
    ...quietTool,
    destructive: true,
    idempotent: true,
    text: ({ path, size_bytes: size, session_id: id, tooling_files: tooling, warnings }) =>
      [
        `Wrote ${size} bytes to ${path}.`,
        ...(id === undefined ? [] : [`session_id ${id}`]),
        ...toolingLines(tooling),
        ...warningLines(warnings),
      ].join("\n"),
  },
});

const editFileRequestSchema = z.strictObject({
  ...place,
  path,
  old_text: z.string().min(1).describe("The text to replace, exactly as it is in the file; it must stand there once."),
  new_text: z.string().describe("What stands there instead."),
  replace_all: z.boolean().optional().describe("Replace it wherever it stands; default false."),
});

const editFileResponseSchema = z.object({
  ...about,
  path: z.string(),
  replacements: z.number(),
  size_bytes: z.number().describe("Of the file as it is now."),
  tooling_files: writeFileResponseSchema.shape.tooling_files,
});

/** `edit_file`: an exact replacement in a file of an environment or a session. */
export const editFileContract = defineOperation({
  name: "edit_file",
  audience: "everyone",
  description:
    "Replaces text in a file of an environment (env_id) or a session of run_code. An error shows the nearest text.",
  request: editFileRequestSchema,
  response: editFileResponseSchema,
  carriesContent: true,
  routes: placeRoutes("PATCH", "/files"),
  tool: {
    title: "Edit a file",
    ...quietTool,
    destructive: true,
    text: ({ path, replacements, tooling_files: tooling, warnings }) =>
      [
        `Replaced ${replacements === 1 ? "one place" : `${replacements} places`} in ${path}.`,
        ...toolingLines(tooling),
        ...warningLines(warnings),
      ].join("\n"),
  },
});

export type ListFilesRequest = z.input<typeof listFilesRequestSchema>;
export type ListFilesResponse = z.output<typeof listFilesResponseSchema>;
export type ReadFileRequest = z.input<typeof readFileRequestSchema>;
export type ReadFileResponse = z.output<typeof readFileResponseSchema>;
export type WriteFileRequest = z.input<typeof writeFileRequestSchema>;
export type WriteFileResponse = z.output<typeof writeFileResponseSchema>;

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

const aboutFile = { ...aboutPlace, sandbox_id: z.string().optional(), path: z.string() } as const;

const downloadFileRequestSchema = z.strictObject({
  ...target,
  offset: z.int().min(0).optional().describe("First byte; default 0."),
  limit: z.int().min(1).optional().describe("Most bytes; default: to the end."),
  last: z.int().min(1).optional().describe("The last bytes, this many; instead of offset and limit."),
});

const downloadFileResponseSchema = z.object({
  ...aboutFile,
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
  ...aboutFile,
  restarted: about.restarted,
  warnings: about.warnings,
  size_bytes: z.number(),
  tooling_files: writeFileResponseSchema.shape.tooling_files,
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
