import type { Platform } from "../../platform/platform.ts";
import type { Operation } from "../operation.ts";
import { endSessionRequestSchema, endSessionResponseSchema } from "./schema.ts";

/** `end_session`: the session's sandbox and its files are removed. */
export const endSessionOperation: Operation<typeof endSessionRequestSchema, typeof endSessionResponseSchema, Platform> =
  {
    name: "end_session",
    description:
      "Ends a session of run_code: what runs in it is ended, its sandbox and all its files are removed. Sessions also end by themselves when they are idle and when the connection ends.",
    request: endSessionRequestSchema,
    response: endSessionResponseSchema,
    run: async ({ sessions }, request, call) => {
      const session = sessions.find(request.session_id, call);
      if (session !== null) await sessions.end(session);
      return { session_id: session?.id ?? null };
    },
  };
