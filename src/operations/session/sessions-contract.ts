import { z } from "zod";
import { labelFilterSchema, labelsSchema, labelsShown } from "../contract/labels-schema.ts";
import { nameShown } from "../contract/name-schema.ts";
import { defineOperation } from "../contract/operation-contract.ts";
import { home, keepVariables } from "./session-id-schema.ts";
import { limitsShown, runSettings } from "../contract/run-settings-schema.ts";
import { isolationLevels } from "../contract/wire-values.ts";

const { network: _, ...settings } = runSettings;

const session = z.object({
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
const openSessionResponseSchema = session.extend({ warnings: z.array(z.string()) });

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

const listSessionsResponseSchema = z.object({ sessions: z.array(session) });

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
  response: session,
  routes: [{ method: "GET", path: "/api/sessions/{session_id}" }],
});

export type OpenSessionRequest = z.input<typeof openSessionRequestSchema>;
export type SessionRow = z.output<typeof session>;
