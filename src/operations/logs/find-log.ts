import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { LogRing } from "../../telemetry/logs/log-ring.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import { meantSandbox } from "../sandboxes/meant-sandbox.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";

/** A sandbox whose log the principal may read. */
export interface FoundLog {
  readonly sandbox: string;
  readonly principal: string;
  /** Undefined: only the store has it. */
  readonly ring: LogRing | undefined;
}

/** Where to look for a log. */
export type LogPlaces = Pick<PlatformParts, "logs" | "store" | "environments" | "sandboxes" | "records">;

/**
 * The log of a sandbox by its id, its container's id or, while it lives, its name or the beginning of its id, or of an environment's current sandbox. The operator can read
 * every log in memory, whoever owns it.
 * @throws NOT_FOUND, also for other principals' logs
 */
export async function findLog(
  places: LogPlaces,
  id: string,
  { principal, isOperator = false }: Pick<OperationCall, "principal" | "isOperator">,
): Promise<FoundLog> {
  const { logs, sandboxes, store } = places;
  const sandbox = sandboxes.live.find(({ containerId }) => containerId === id)?.id ?? id;
  const ring = logs.find(sandbox);
  if (ring?.source.principal === principal) return { sandbox, principal, ring };
  if (ring !== undefined && isOperator) return { sandbox, principal: ring.source.principal, ring };
  if (ring !== undefined) throw notFound(id);
  if ((await store?.hasEntries({ sandbox, principal })) === true) return { sandbox, principal, ring };
  const present = await ofEnvironment(places, id, principal);
  if (present !== null) return { sandbox: present, principal, ring: logs.find(present) };
  const meant = await meantSandbox(places, id, { principal, isOperator }, "id");
  if (meant === id) throw notFound(id);
  return findLog(places, meant, { principal, isOperator });
}

async function ofEnvironment({ environments }: LogPlaces, id: string, principal: string): Promise<string | null> {
  try {
    return (await (await environments.find(id, principal)).currentIds()).sandboxId;
  } catch (error) {
    if (error instanceof GloveboxError && error.errorType === "NOT_FOUND") return null;
    throw error;
  }
}

function notFound(id: string): GloveboxError {
  return new GloveboxError("NOT_FOUND", `There is no log of a sandbox ${id}.`, {
    suggestion: "Use the sandbox_id of a result; logs are kept for a while, and longer where the server stores them.",
    context: { id },
  });
}
