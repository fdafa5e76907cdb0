import { z } from "zod";
import { listOf, textsByName } from "../contract/bounded-schemas.ts";
import { maxArguments, maxEnvironmentEntries, maxPackages } from "../contract/request-maxima.ts";
import { defineOperation } from "../contract/operation-contract.ts";
import { programResponse } from "../contract/program-schema.ts";
import { programText } from "../contract/program-text.ts";
import { runSettings } from "../contract/run-settings-schema.ts";
import { secretsSchema } from "../contract/secrets-schema.ts";
import {
  chartMediaType,
  isolationLevels,
  javascriptRuntimes,
  languages,
  tableMediaType,
} from "../contract/wire-values.ts";
import { contextName, keepVariables, sessionId } from "./session-id-schema.ts";

/** Request of a call in a session (SPEC SE0). */
const runCodeRequestSchema = z.strictObject({
  code: z.string().describe("The program, at most 1 MiB."),
  language: z.enum(languages).optional().describe("Language of the code; default typescript."),
  runtime: z
    .enum(javascriptRuntimes)
    .optional()
    .describe("What runs JavaScript and TypeScript: bun (the default), or node where the session's image has it."),
  session_id: sessionId,
  packages: z
    .union([listOf(z.string(), maxPackages), z.literal("auto")])
    .optional()
    .describe('Packages that the code imports, such as ["lodash@4.17.21"]; default "auto": found by its imports.'),
  stdin: z.string().optional().describe("The program's standard input; default: empty."),
  args: listOf(z.string(), maxArguments).optional().describe("Arguments of the program."),
  environment: textsByName(maxEnvironmentEntries)
    .optional()
    .describe("Environment variables of this call's program; later calls do not have them."),
  keep_variables: keepVariables,
  context: contextName
    .optional()
    .describe(
      "With keep_variables: a name for variables apart from others of the session, at most 8; a new name makes them. Language and runtime default to its own. Default: the one of the runtime: python, bun or node.",
    ),
  secrets: secretsSchema.optional(),
  timeout_seconds: z.number().optional().describe("Time for the program; short for limits.timeout_seconds."),
  ...runSettings,
});

/** Response of a call in a session (SPEC SE0). */
const runCodeResponseSchema = z.object({
  session_id: z.string().describe("Names the session: its files are there for the next call that gives it."),
  container_id: z.string().describe("The sandbox that ran it; the same as sandbox_id."),
  restarted: z
    .boolean()
    .describe("Whether the session's sandbox is a new one; a warning says what became of its files."),
  packages_installed: z
    .array(z.string())
    .describe("The packages of this call in the versions that it had, from the cache or freshly installed."),
  displays: z
    .array(
      z.object({
        value: z.int().describe("Which of the values that were shown this is a form of, from 0."),
        is_result: z.boolean().describe("Whether that is the value of the last expression."),
        media_type: z
          .string()
          .describe(
            "text/plain, text/html, text/markdown, text/latex, application/json, image/svg+xml, image/png, image/jpeg; of figures and tables also their numbers, as application/vnd.glovebox.chart+json and .table+json.",
          ),
        encoding: z.enum(["utf8", "base64"]),
        content: z.string(),
      }),
    )
    .optional()
    .describe("With keep_variables: the value of the last expression, what `display` was given, and open plots."),
  exception: z
    .object({
      name: z.string().describe("Such as ValueError; of a thrown value that is no error, its type."),
      value: z.string().describe("Its message."),
      traceback: z.string().describe("As on standard error; of a long one without its middle."),
    })
    .optional()
    .describe("With keep_variables: the exception that ended the program, in the program's own words."),
  context: z.string().optional().describe("With keep_variables: the context that has its variables."),
  variables_lost: z
    .boolean()
    .optional()
    .describe("With keep_variables: whether variables of earlier calls, or of this one, are gone; a warning says why."),
  ...programResponse,
});

/** What repeats another form for programs. */
const forPrograms: ReadonlySet<string> = new Set(["text/html", chartMediaType, tableMediaType]);

/** What is displayed, as text if there is a text form. */
function displayLines(displays: RunCodeResponse["displays"] = []): readonly string[] {
  return displays.flatMap(({ media_type: type, content }) => (forPrograms.has(type) ? [] : [`${type}:`, content]));
}

const preloadCaveat =
  "Without bubblewrap it runs at isolation preload here, on the machine itself, which is no wall: warnings say so.";

/** `run_code`: runs a program in a session, which keeps its files. */
export const runCodeContract = defineOperation({
  name: "run_code",
  audience: "everyone",
  description: [
    "Runs a TypeScript (Bun), JavaScript or Python program in a session, for work in several steps. Files in its folder, /work, last until end_session,",
    "the end of the connection or 15 idle minutes; variables do not (but see keep_variables): each call is a fresh program. Print what you want to know.",
    'Import files of earlier calls by absolute path ("/work/helper.ts").',
    "No network unless `network` asks; no file of the host. A program that fails is an answer: read outcome, stderr and error.suggestion.",
    "`restarted`: a new sandbox; warnings say what became of the files.",
  ].join(" "),
  request: runCodeRequestSchema,
  response: runCodeResponseSchema,
  carriesContent: true,
  routes: [{ method: "POST", path: "/api/sessions/{session_id}/runs" }],
  tool: {
    title: "Run a program in a session",
    readOnly: false,
    // It may overwrite files of earlier calls.
    destructive: true,
    idempotent: false,
    openWorld: true,
    mayTakeLong: true,
    caveat: ({ sessionIsolation }) => (sessionIsolation === isolationLevels[0] ? preloadCaveat : null),
    text: (response) =>
      programText(response, [...displayLines(response.displays), `session_id ${response.session_id}`]),
  },
});

export type RunCodeRequest = z.input<typeof runCodeRequestSchema>;
export type RunCodeResponse = z.output<typeof runCodeResponseSchema>;
