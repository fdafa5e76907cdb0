import { z } from "zod";
import { defineOperation } from "../contract/operation-contract.ts";
import { javascriptRuntimes, languages } from "../contract/wire-values.ts";
import { contextName } from "./session-id-schema.ts";

const session = z.string().describe("A session_id of an earlier answer, or the session's name.");

const context = z.object({
  context: z.string().describe("Its name."),
  language: z.enum(languages).describe("Default of its calls; those of bun and node may be TypeScript or JavaScript."),
  runtime: z.enum(["python", ...javascriptRuntimes]),
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
    session_id: session,
    context: contextName,
    language: z.enum(languages).optional().describe("Default typescript."),
    runtime: z
      .enum(javascriptRuntimes)
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
  request: z.strictObject({ session_id: session }),
  response: z.object({ session_id: z.string(), contexts: z.array(context) }),
  routes: [{ method: "GET", path: "/api/sessions/{session_id}/contexts" }],
});

/** `interrupt_context`: the running call ends, and variables stay. */
export const interruptContextContract = defineOperation({
  name: "interrupt_context",
  audience: "everyone",
  description:
    "Interrupts the call that runs in a context, as Ctrl+C would, and keeps the variables: Python raises KeyboardInterrupt; TypeScript and JavaScript end a call while it waits for a promise. Does nothing when no call runs. A program may ignore it, and ends at its time limit then.",
  request: z.strictObject({ session_id: session, context: contextName }),
  response: context,
  routes: [{ method: "POST", path: "/api/sessions/{session_id}/contexts/{context}/interrupt" }],
});

/** `restart_context`: the next call begins without variables. */
export const restartContextContract = defineOperation({
  name: "restart_context",
  audience: "everyone",
  description:
    "Ends the interpreter of a context, with its variables and all that it has started, at once: calls that are in it or wait for it are cancelled. The next call has a new one.",
  request: z.strictObject({ session_id: session, context: contextName }),
  response: context,
  routes: [{ method: "POST", path: "/api/sessions/{session_id}/contexts/{context}/restart" }],
});

/** `end_context`: frees its interpreter and its name. */
export const endContextContract = defineOperation({
  name: "end_context",
  audience: "everyone",
  description: "Ends a context as restart_context does, and forgets it: its name and its place are free.",
  request: z.strictObject({ session_id: session, context: contextName }),
  response: z.object({ session_id: z.string(), context: z.string().describe("The one that has ended.") }),
  routes: [{ method: "DELETE", path: "/api/sessions/{session_id}/contexts/{context}" }],
});

export type ContextRow = z.output<typeof context>;
