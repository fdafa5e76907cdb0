import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Session } from "../../workloads/session/session.ts";
import { hasLabels } from "../contract/labels-schema.ts";
import { handle } from "../handling/handler.ts";
import { limitsToWire } from "../handling/limits-to-wire.ts";
import { sessionOf } from "./session-of.ts";
import { getSessionContract, listSessionsContract, openSessionContract, type SessionRow } from "./sessions-contract.ts";

/** `open_session`: a new session, even if the connection already has one. */
export const openSessionHandler = handle(openSessionContract, async (platform, request, { connection: _, ...call }) => {
  // Without a connection there is no shared session.
  const { session, notes } = await sessionOf(platform, request, call);
  return { ...rowOf(session), warnings: [...notes] };
});

/** `list_sessions`: the caller's own. */
export const listSessionsHandler = handle(listSessionsContract, ({ sessions }, { label }, { principal }) => {
  const own = sessions.list(principal).filter(({ settings }) => hasLabels(settings.labels, label));
  return Promise.resolve({ sessions: own.map(rowOf) });
});

/** `get_session`: one of the caller's own. */
export const getSessionHandler = handle(getSessionContract, async ({ sessions }, { session_id: id }, call) => {
  const session = sessions.find(id, call);
  if (session === null) throw new GloveboxError("NOT_FOUND", "There is no such session.");
  return rowOf(session);
});

function rowOf({ id, settings, folder, processes, sandboxId, createdAtMs }: Session): SessionRow {
  return {
    session_id: id,
    name: settings.name ?? null,
    engine: settings.engine.name,
    image: settings.image,
    ...(settings.ociRuntime === undefined ? {} : { oci_runtime: settings.ociRuntime }),
    min_isolation: settings.minIsolation,
    sandbox_id: sandboxId,
    limits: limitsToWire(settings.limits),
    keep_variables: settings.keepsVariables,
    home: folder,
    labels: { ...settings.labels },
    created_at: new Date(createdAtMs).toISOString(),
    running_processes: processes.running.length,
  };
}
