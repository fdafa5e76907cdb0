import type { IncomingMessage } from "node:http";
import { E2bRefusal, notRunning } from "../refusal.ts";
import type { Exchange } from "../exchange.ts";
import type { E2bContext } from "../e2b-context.ts";
import type { E2bSandbox, SandboxTarget } from "../e2b-sandbox.ts";

/** Ports of a sandbox that are ours: E2B's daemon, and its code interpreter. */
const envdPort = 49_983;
const interpreterPort = 49_999;
const maxPort = 65_535;

/** Which part of which sandbox a request is for; null: one of its own programs listens there. */
export interface NamedSandbox {
  readonly sandbox: E2bSandbox;
  readonly port: number;
  readonly part: "envd" | "interpreter" | null;
}

/** Whether a request is for a sandbox, not for the control API. */
export function isForSandbox({ hosts }: Pick<E2bContext, "hosts">, { headers }: IncomingMessage): boolean {
  const isNamed = headers["e2b-sandbox-id"] !== undefined || headers["e2b-sandbox-port"] !== undefined;
  return isNamed || hosts.read(headers.host) !== null;
}

/**
 * The sandbox that the host names, else the headers; its token is still to be checked.
 * @throws E2bRefusal 400 for one header without the other, 502 for a sandbox that does not answer
 */
export function findNamed({ sandboxes, hosts }: E2bContext, { headers }: IncomingMessage): NamedSandbox {
  const { id, port } = hosts.read(headers.host) ?? namedByHeaders(headers);
  const sandbox = sandboxes.find(id);
  if (sandbox === null) throw notRunning(id);
  return { sandbox, port, part: partOf(port) };
}

/** What of ours listens there; null: nothing. */
export function partOf(port: number): NamedSandbox["part"] {
  if (port === envdPort) return "envd";
  return port === interpreterPort ? "interpreter" : null;
}

function namedByHeaders(headers: IncomingMessage["headers"]): { readonly id: string; readonly port: number } {
  const { "e2b-sandbox-id": id, "e2b-sandbox-port": port } = headers;
  if (typeof id !== "string" || typeof port !== "string") {
    throw new E2bRefusal(400, "headers: expected both E2b-Sandbox-Id and E2b-Sandbox-Port");
  }
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > maxPort) {
    throw new E2bRefusal(400, `E2b-Sandbox-Port: expected a port, got ${JSON.stringify(port.slice(0, 80))}`);
  }
  return { id, port: Number(port) };
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
