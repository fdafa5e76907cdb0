import { E2bRefusal } from "../http/refusal.ts";
import type { Exchange } from "../http/exchange.ts";
import type { E2bContext } from "../e2b-context.ts";
import type { E2bSandbox } from "../sandboxes/e2b-sandbox.ts";

/** Ports of a sandbox that are served: E2B's daemon, and its code interpreter. */
const envdPort = "49983";
const interpreterPort = "49999";

/** Which part of which sandbox a request is for. */
export interface SandboxTarget {
  readonly sandbox: E2bSandbox;
  /** The engine's id of the sandbox that it has now. */
  readonly sandboxId: string;
  readonly part: "envd" | "interpreter";
}

/** Whether a request is for a sandbox, not for the control API. */
export function isForSandbox({ request }: Exchange): boolean {
  return request.headers["e2b-sandbox-id"] !== undefined || request.headers["e2b-sandbox-port"] !== undefined;
}

/**
 * The live sandbox that the headers name; its token is still to be checked.
 * @throws E2bRefusal 400 for one header without the other, 502 for a sandbox or a port that does not answer
 */
export async function findTarget({ sandboxes }: E2bContext, { request, signal }: Exchange): Promise<SandboxTarget> {
  const { "e2b-sandbox-id": id, "e2b-sandbox-port": port } = request.headers;
  if (typeof id !== "string" || typeof port !== "string") {
    throw new E2bRefusal(400, "headers: expected both E2b-Sandbox-Id and E2b-Sandbox-Port");
  }
  const sandbox = sandboxes.find(id);
  const sandboxId = sandbox === null ? null : await sandboxes.currentId(sandbox, signal);
  if (sandbox === null || sandboxId === null) {
    throw new E2bRefusal(502, "The sandbox was not found", { sandboxId: id.slice(0, 80) });
  }
  if (port === envdPort) return { sandbox, sandboxId, part: "envd" };
  if (port === interpreterPort) return { sandbox, sandboxId, part: "interpreter" };
  throw new E2bRefusal(502, "Ports of sandboxes are not served; use Glovebox's previews", {
    sandboxId: sandbox.id,
    port: Number(port) || 0,
  });
}
