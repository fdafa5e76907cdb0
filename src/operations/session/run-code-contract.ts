import { z } from "zod";
import { defineOperation } from "../contract/operation-contract.ts";
import { programResponse } from "../contract/request/program-schema.ts";
import { programText } from "../contract/program-text.ts";
import { runSettings } from "../contract/request/run-settings-schema.ts";
import { secretsSchema } from "../contract/request/secrets-schema.ts";
import { isolationLevels, languages } from "../contract/wire-values.ts";
import { sessionId } from "./session-id-schema.ts";

/** Request of a call in a session (SPEC SE0). */
const runCodeRequestSchema = z.strictObject({
  code: z.string().describe("The program, at most 1 MiB."),
  language: z.enum(languages).optional().describe("Language of the code; default typescript."),
  session_id: sessionId,
  packages: z
    .union([z.array(z.string()), z.literal("auto")])
    .optional()
    .describe('Packages that the code imports, such as ["lodash@4.17.21"]; default "auto": found by its imports.'),
  stdin: z.string().optional().describe("The program's standard input; default: empty."),
  args: z.array(z.string()).optional().describe("Arguments of the program."),
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
  ...programResponse,
});

const preloadCaveat =
  "Where this machine has no namespaces (bubblewrap) the program runs at isolation preload, on the machine itself, which is no wall against hostile code: `isolation` and the first of `warnings` in the answer say so.";

/** `run_code`: a program in a session, whose files last. */
export const runCodeContract = defineOperation({
  name: "run_code",
  audience: "everyone",
  description: [
    "Runs a TypeScript, JavaScript or Python program in a session: a sandbox of its own whose files last from call to call.",
    "Use it for work in several steps. Each call is a fresh program: variables, imports and processes of earlier calls are gone,",
    "files in the current folder (/work) are there. Print what you want to know: the value of the last expression is not shown.",
    "TypeScript and JavaScript run under Bun. The program's own file is /code/main.ts (main.js, main.py), so import files of earlier calls",
    'by their absolute path, such as "/work/helper.ts". Calls of one session run one after another.',
    "Packages that the code imports are installed first; `packages` names them with their versions.",
    'The program has no network unless `network` asks for it (such as "registries" or ["example.com"]) and sees no file of the host.',
    "The answer's session_id names the session for later calls. If `restarted` is true the sandbox is a new one: warnings say whether its files were lost.",
    "A program that fails is an answer, not an error: read `outcome`, `exit_code`, `stderr` and, where present, `error.suggestion`.",
  ].join(" "),
  request: runCodeRequestSchema,
  response: runCodeResponseSchema,
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
    text: (response) => programText(response, [`session_id ${response.session_id}`]),
  },
});

export type RunCodeRequest = z.input<typeof runCodeRequestSchema>;
export type RunCodeResponse = z.output<typeof runCodeResponseSchema>;
