import { z } from "zod";
import { defineOperation } from "../contract/operation-contract.ts";

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
    readOnly: false,
    destructive: true,
    idempotent: true,
    openWorld: false,
    mayTakeLong: false,
    text: ({ session_id: id }) => (id === null ? "There was no session to end." : `Session ${id} has ended.`),
  },
});
