import { handle } from "../handling/handler.ts";
import { endSessionContract } from "./end-session-contract.ts";

/** `end_session`: removes the session's sandbox and its files. */
export const endSessionHandler = handle(endSessionContract, async ({ sessions }, request, call) => {
  const session = sessions.find(request.session_id, call);
  if (session !== null) await sessions.end(session);
  return { session_id: session?.id ?? null };
});
