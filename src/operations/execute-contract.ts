import { chosenRuntimeNames, languageNames } from "../languages/language-table.ts";
import { z } from "zod";
import { maxArguments, maxContextFiles, maxEnvironmentEntries, maxGlobs, maxPackages } from "./contract/wire-values.ts";
import {
  listOf,
  textsByName,
  contextFileSchema,
  labelsSchema,
  runSettings,
  secretsSchema,
} from "./contract/request-schemas.ts";
import { defineOperation, type ToolImage, quietTool } from "./contract/operation-contract.ts";
import { programResponse, programText } from "./contract/program-schema.ts";

/** Request of a one-shot execution (SPEC EX1). */
const executeRequestSchema = z.strictObject({
  language: z.enum(languageNames).describe("Language of the code."),
  code: z.string().describe("The program, at most 1 MiB."),
  filename: z
    .string()
    .optional()
    .describe("Name of the program's file, as tracebacks show it; default main.py, main.js or main.ts."),
  runtime: z
    .enum(chosenRuntimeNames)
    .optional()
    .describe(
      "What runs JavaScript and TypeScript: node (the default) or, without an `image`, bun in the image of sessions.",
    ),
  context_files: listOf(contextFileSchema, maxContextFiles)
    .optional()
    .describe("Read-only files beside the code, importable from it."),
  environment: textsByName(maxEnvironmentEntries).optional().describe("Environment variables of the program."),
  secrets: secretsSchema.optional(),
  timeout_seconds: z.number().optional().describe("Time for the program; short for limits.timeout_seconds."),
  stdin: z.string().optional().describe("The program's standard input; default: empty."),
  args: listOf(z.string(), maxArguments).optional().describe("Arguments of the program."),
  packages: z
    .union([listOf(z.string(), maxPackages), z.literal("auto")])
    .optional()
    .describe(
      'Packages to have at hand, such as lodash@4.17.21 or requests==2.32.0; those that are not in the cache are installed first, in a sandbox of their own. Without a version: the newest at the time of its first installation. "auto": those that the code imports; the default over MCP and on the command line, elsewhere none.',
    ),
  artifacts: listOf(z.string(), maxGlobs).optional().describe("Globs of result files to return, such as *.png."),
  labels: labelsSchema.optional(),
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
const executeResponseSchema = z.object({
  ...programResponse,
  packages_installed: z
    .array(z.string())
    .optional()
    .describe("The packages asked for in the versions that the program had, from the cache or freshly installed."),
  artifacts: z.array(artifact).optional(),
});

/** `execute_code`: a program in a fresh sandbox that is removed right after. */
export const executeCodeContract = defineOperation({
  name: "execute_code",
  audience: "everyone",
  description: [
    "Runs one Python, JavaScript or TypeScript program in a fresh sandbox and removes it right after: compute, parse, check, plot.",
    "Print what you want to know, and return files with `artifacts`: nothing else survives. Packages that the code imports are installed;",
    "no network unless `network` asks; no file of the host but `context_files`.",
    "If it fails, read outcome, exit_code, stderr and error.suggestion.",
  ].join(" "),
  request: executeRequestSchema,
  response: executeResponseSchema,
  freshSandbox: true,
  carriesContent: true,
  routes: [{ method: "POST", path: "/api/sandbox/execute" }],
  tool: {
    title: "Run a program",
    ...quietTool,
    openWorld: true,
    mayTakeLong: true,
    defaults: { packages: "auto" },
    text: executeText,
    images: executeImages,
  },
});

/** Request of `execute_code` as clients write it. */
export type ExecuteRequest = z.input<typeof executeRequestSchema>;

/** Response of `execute_code` as clients read it. */
export type ExecuteResponse = z.output<typeof executeResponseSchema>;

/** Maximum base64 characters of all pictures in one answer: what clients pass on to models. */
const maxImageCharacters = 700_000;

const imageTypes = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The verdict in a line, then what went wrong and what to do, then the output. */
function executeText(response: ExecuteResponse): string {
  const { artifacts = [] } = response;
  return programText(
    response,
    artifacts.map(({ path, size_bytes: size, media_type: type, encoding, content }) => {
      const how = encoding === "base64" && content !== "" ? `: ${content}` : "";
      return `artifact ${path} (${type}, ${size} bytes)${how}`;
    }),
  );
}

/** Artifacts that are pictures, as many as fit. */
function executeImages({ artifacts = [] }: ExecuteResponse): ToolImage[] {
  let room = maxImageCharacters;
  return artifacts.flatMap(({ media_type: mediaType, encoding, content }) => {
    const fits = encoding === "base64" && content !== "" && imageTypes.has(mediaType) && content.length <= room;
    if (!fits) return [];
    room -= content.length;
    return [{ base64: content, mediaType }];
  });
}
