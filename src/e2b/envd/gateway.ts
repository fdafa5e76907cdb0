import { E2bRefusal } from "../http/refusal.ts";
import type { Exchange } from "../http/exchange.ts";
import type { E2bContext } from "../e2b-context.ts";
import type { E2bSandbox, SandboxTarget } from "../sandboxes/e2b-sandbox.ts";

/** Ports of a sandbox that are served: E2B's daemon, and its code interpreter. */
const envdPort = "49983";
const interpreterPort = "49999";

/** Which part of which sandbox a request is for. */
export interface NamedSandbox {
  readonly sandbox: E2bSandbox;
  readonly part: "envd" | "interpreter";
}

/** Whether a request is for a sandbox, not for the control API. */
export function isForSandbox({ request }: Exchange): boolean {
  return request.headers["e2b-sandbox-id"] !== undefined || request.headers["e2b-sandbox-port"] !== undefined;
}

/**
 * The sandbox that the headers name; its token is still to be checked.
 * @throws E2bRefusal 400 for one header without the other, 502 for a sandbox or a port that does not answer
 */
export function findNamed({ sandboxes }: E2bContext, { request }: Exchange): NamedSandbox {
  const { "e2b-sandbox-id": id, "e2b-sandbox-port": port } = request.headers;
  if (typeof id !== "string" || typeof port !== "string") {
    throw new E2bRefusal(400, "headers: expected both E2b-Sandbox-Id and E2b-Sandbox-Port");
  }
  const sandbox = sandboxes.find(id);
  if (sandbox === null) throw notRunning(id);
  if (port === envdPort) return { sandbox, part: "envd" };
  if (port === interpreterPort) return { sandbox, part: "interpreter" };
  throw new E2bRefusal(502, "Ports of sandboxes are not served; use Glovebox's previews", {
    sandboxId: sandbox.id,
    port: Number(port) || 0,
  });
}

/** The sandbox as it is now, started again if it was stopped to make room. @throws E2bRefusal 502 if it has ended */
export async function liveTarget(
  { sandboxes }: E2bContext,
  { signal }: Exchange,
  sandbox: E2bSandbox,
): Promise<SandboxTarget> {
  const sandboxId = await sandboxes.currentId(sandbox, signal);
  if (sandboxId === null) throw notRunning(sandbox.id);
  return { sandbox, sandboxId };
}

/** What tells the SDKs that a sandbox is not running. */
export function notRunning(id: string): E2bRefusal {
  return new E2bRefusal(502, "The sandbox was not found", { sandboxId: id.slice(0, 80) });
}
