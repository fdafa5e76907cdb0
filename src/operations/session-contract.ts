import { chosenRuntimeNames, languageNames, runtimeNames } from "../languages/language-table.ts";
import { z } from "zod";
import {
  maxArguments,
  maxEnvironmentEntries,
  maxPackages,
  chartMediaType,
  isolationLevels,
  tableMediaType,
} from "./contract/wire-values.ts";
import {
  nameText,
  listOf,
  textsByName,
  runSettings,
  secretsSchema,
  labelFilterSchema,
  labelsSchema,
  labelsShown,
  nameShown,
  limitsShown,
} from "./contract/request-schemas.ts";
import { defineOperation, quietTool } from "./contract/operation-contract.ts";
import { programResponse, programText } from "./contract/program-schema.ts";

/** The field `session_id` of requests that use a session. */
const sessionId: z.ZodOptional<z.ZodString> = z
  .string()
  .optional()
  .describe(
    "A session_id of an earlier answer, or the session's name; default: the session of this connection, else a new one.",
  );

/** The field `keep_variables` of requests that may open a session. */
const keepVariables: z.ZodOptional<z.ZodBoolean> = z
  .boolean()
  .optional()
  .describe(
    "Of a new session: an interpreter of each language lives with it, so that variables last from call to call, and the last expression's value, tables and plots come back in displays. Its programs have no stdin, secrets or network. Default false.",
  );

/** The field `home` of requests that open a session: folders that no system keeps files of its own in. */
const home: z.ZodOptional<z.ZodString> = z
  .string()
  .regex(/^\/(?:workspace|home\/[a-z_][a-z0-9_-]{0,31})$/, "expected /workspace or a folder such as /home/user")
  .optional()
  .describe(
    "Folder that its programs start in, that is their HOME, and whose files are kept: /workspace, or one such as /home/user; default: /work, with HOME in /tmp.",
  );

/** The name of a context of a session that keeps variables. */
const contextName: z.ZodString = nameText.describe(
  "The context's name: letters, digits, hyphens, underscores and dots, at most 64.",
);

/** Request of a call in a session (SPEC SE0). */
const runCodeRequestSchema = z.strictObject({
  code: z.string().describe("The program, at most 1 MiB."),
  language: z.enum(languageNames).optional().describe("Language of the code; default typescript."),
  runtime: z
    .enum(chosenRuntimeNames)
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

const { network: _, ...settings } = runSettings;

const sessionSchema = z.object({
  session_id: z.string(),
  name: nameShown,
  engine: z.string(),
  image: z.string().describe("The image that its sandbox has on engines with images."),
  oci_runtime: z.string().optional(),
  min_isolation: z.enum(isolationLevels).describe("The weakest isolation that its programs run at."),
  sandbox_id: z.string().nullable().describe("The sandbox it lives in now; null while it has none."),
  limits: limitsShown.describe("Of its sandbox; timeout_seconds is the default of its calls."),
  keep_variables: z.boolean().describe("Whether variables last from call to call."),
  home: z.string().describe("Folder that its programs start in, and whose files are kept."),
  labels: labelsShown,
  created_at: z.string().describe("RFC 3339."),
  running_processes: z.number().describe("Background processes."),
});

/** Request of `open_session`. */
const openSessionRequestSchema = z.strictObject({
  ...settings,
  keep_variables: keepVariables,
  home,
  labels: labelsSchema.optional(),
});
const openSessionResponseSchema = sessionSchema.extend({ warnings: z.array(z.string()) });

/** `open_session`: a new session, even if the connection already has one. */
export const openSessionContract = defineOperation({
  name: "open_session",
  audience: "everyone",
  description:
    "Opens a new session for run_code and tells its session_id. Its sandbox starts with its first call. It keeps what it was opened with; time and network are each call's own.",
  request: openSessionRequestSchema,
  response: openSessionResponseSchema,
  routes: [{ method: "POST", path: "/api/sessions" }],
});

const listSessionsResponseSchema = z.object({ sessions: z.array(sessionSchema) });

/** `list_sessions`: the caller's own. */
export const listSessionsContract = defineOperation({
  name: "list_sessions",
  audience: "everyone",
  description: "Lists your sessions that have not ended, with what they were opened with.",
  request: z.strictObject({ label: labelFilterSchema.optional() }),
  response: listSessionsResponseSchema,
  routes: [{ method: "GET", path: "/api/sessions" }],
});

/** `get_session`: one of the caller's own. */
export const getSessionContract = defineOperation({
  name: "get_session",
  audience: "everyone",
  description: "Tells what one of your sessions was opened with, and what runs in it.",
  request: z.strictObject({ session_id: z.string().describe("A session_id of an earlier answer, or its name.") }),
  response: sessionSchema,
  routes: [{ method: "GET", path: "/api/sessions/{session_id}" }],
});

export type OpenSessionRequest = z.input<typeof openSessionRequestSchema>;
export type SessionRow = z.output<typeof sessionSchema>;

const endSessionRequestSchema = z.strictObject({
  session_id: z.string().optional().describe("Which one; default: the session of this connection."),
});

const endSessionResponseSchema = z.object({
  session_id: z.string().nullable().describe("The session that has ended; null when there was none."),
});

/** `end_session`: removes the session's sandbox and its files. */
export const endSessionContract = defineOperation({
  name: "end_session",
  audience: "everyone",
  description:
    "Ends a session of run_code with all that runs in it and all its files. Sessions also end when idle and with the connection.",
  request: endSessionRequestSchema,
  response: endSessionResponseSchema,
  routes: [{ method: "DELETE", path: "/api/sessions/{session_id}" }],
  tool: {
    title: "End a session",
    ...quietTool,
    destructive: true,
    idempotent: true,
    text: ({ session_id: id }) => (id === null ? "There was no session to end." : `Session ${id} has ended.`),
  },
});

const knownSession = z.string().describe("A session_id of an earlier answer, or the session's name.");

const context = z.object({
  context: z.string().describe("Its name."),
  language: z
    .enum(languageNames)
    .describe("Default of its calls; those of bun and node may be TypeScript or JavaScript."),
  runtime: z.enum(runtimeNames),
  cwd: z.string().describe("The folder in which its interpreter begins."),
  running: z.boolean().describe("Whether its interpreter is alive, and with it its variables."),
  created_at: z.string().describe("RFC 3339."),
  last_used_at: z.string().nullable().describe("When a call last began or ended in it, RFC 3339; null: none has."),
});

/** `create_context`: variables apart from others of a session. */
export const createContextContract = defineOperation({
  name: "create_context",
  audience: "everyone",
  description:
    "Makes a context in a session with keep_variables: variables, imports and working folder apart from those of other contexts, for one language. Its interpreter starts with its first call.",
  request: z.strictObject({
    session_id: knownSession,
    context: contextName,
    language: z.enum(languageNames).optional().describe("Default typescript."),
    runtime: z
      .enum(chosenRuntimeNames)
      .optional()
      .describe("What runs JavaScript and TypeScript: bun (the default), or node where the session's image has it."),
    cwd: z
      .string()
      .optional()
      .describe(
        "Folder in which its interpreter begins, absolute or relative to /work, which is the default. Calls fail as long as it is not there.",
      ),
  }),
  response: context,
  routes: [{ method: "POST", path: "/api/sessions/{session_id}/contexts" }],
});

/** `list_contexts`: those of one session. */
export const listContextsContract = defineOperation({
  name: "list_contexts",
  audience: "everyone",
  description: "Lists the contexts of a session with keep_variables, in the order in which they were made.",
  request: z.strictObject({ session_id: knownSession }),
  response: z.object({ session_id: z.string(), contexts: z.array(context) }),
  routes: [{ method: "GET", path: "/api/sessions/{session_id}/contexts" }],
});

/** `interrupt_context`: the running call ends, and variables stay. */
export const interruptContextContract = defineOperation({
  name: "interrupt_context",
  audience: "everyone",
  description:
    "Interrupts the call that runs in a context, as Ctrl+C would, and keeps the variables: Python raises KeyboardInterrupt; TypeScript and JavaScript end a call while it waits for a promise. Does nothing when no call runs. A program may ignore it, and ends at its time limit then.",
  request: z.strictObject({ session_id: knownSession, context: contextName }),
  response: context,
  routes: [{ method: "POST", path: "/api/sessions/{session_id}/contexts/{context}/interrupt" }],
});

/** `restart_context`: the next call begins without variables. */
export const restartContextContract = defineOperation({
  name: "restart_context",
  audience: "everyone",
  description:
    "Ends the interpreter of a context, with its variables and all that it has started, at once: calls that are in it or wait for it are cancelled. The next call has a new one.",
  request: z.strictObject({ session_id: knownSession, context: contextName }),
  response: context,
  routes: [{ method: "POST", path: "/api/sessions/{session_id}/contexts/{context}/restart" }],
});

/** `end_context`: frees its interpreter and its name. */
export const endContextContract = defineOperation({
  name: "end_context",
  audience: "everyone",
  description: "Ends a context as restart_context does, and forgets it: its name and its place are free.",
  request: z.strictObject({ session_id: knownSession, context: contextName }),
  response: z.object({ session_id: z.string(), context: z.string().describe("The one that has ended.") }),
  routes: [{ method: "DELETE", path: "/api/sessions/{session_id}/contexts/{context}" }],
});

export type ContextRow = z.output<typeof context>;
