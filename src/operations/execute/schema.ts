import { z } from "zod";
import { languages } from "../../policy/language.ts";
import { programResponse } from "../program-response.ts";
import { runSettings } from "../run-settings.ts";
import { secretsSchema } from "../secrets-schema.ts";

const contextFile = z.union([
  z.string().describe("Path of a file below the working directory; it keeps its relative path."),
  z.strictObject({
    path: z.string().describe("Relative path beside the code."),
    content: z.string(),
    encoding: z.enum(["utf8", "base64"]).optional().describe("How `content` is written; default utf8."),
  }),
]);

/** Request of a one-shot execution (SPEC EX1). */
export const executeRequestSchema = z.strictObject({
  language: z.enum(languages).describe("Language of the code."),
  code: z.string().describe("The program, at most 1 MiB."),
  filename: z
    .string()
    .optional()
    .describe("Name of the program's file, as tracebacks show it; default main.py, main.js or main.ts."),
  context_files: z.array(contextFile).optional().describe("Read-only files beside the code, importable from it."),
  environment: z.record(z.string(), z.string()).optional().describe("Environment variables of the program."),
  secrets: secretsSchema.optional(),
  timeout_seconds: z.number().optional().describe("Time for the program; short for limits.timeout_seconds."),
  stdin: z.string().optional().describe("The program's standard input; default: empty."),
  args: z.array(z.string()).optional().describe("Arguments of the program."),
  packages: z
    .union([z.array(z.string()), z.literal("auto")])
    .optional()
    .describe(
      'Packages to have at hand, such as lodash@4.17.21 or requests==2.32.0; those that are not in the cache are installed first, in a sandbox of their own. Without a version: the newest at the time of its first installation. "auto": those that the code imports.',
    ),
  artifacts: z.array(z.string()).optional().describe("Globs of result files to return, such as *.png."),
  ...runSettings,
});

const artifact = z.object({
  path: z.string(),
  size_bytes: z.number(),
  media_type: z.string(),
  type: z.enum(["image", "table", "text", "binary"]),
  encoding: z.enum(["utf8", "base64"]),
  content: z.string(),
  omitted: z.string().optional().describe("Why the content is missing or cut, when it is."),
});

/** Response of a one-shot execution (SPEC EX1). */
export const executeResponseSchema = z.object({
  ...programResponse,
  packages_installed: z
    .array(z.string())
    .optional()
    .describe("The packages asked for in the versions that the program had, from the cache or freshly installed."),
  artifacts: z.array(artifact).optional(),
});

/** Request of `execute_code` as clients write it. */
export type ExecuteRequest = z.input<typeof executeRequestSchema>;
/** Response of `execute_code` as clients read it. */
export type ExecuteResponse = z.output<typeof executeResponseSchema>;
