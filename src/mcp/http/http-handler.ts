import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, isInitializeRequest, isLegacyRequest } from "@modelcontextprotocol/server";
import { HttpSessions } from "./http-sessions.ts";
import type { McpDoor } from "../mcp-door.ts";
import { maxMessageBytes } from "../stdio/stdio-transport.ts";
import { refuseTaskSubscription } from "../tasks/task-subscription.ts";

/** The adapter's view of Node's request: a server's always has a method and a URL. */
type NodeRequest = IncomingMessage & { readonly method: string; readonly url: string };

/** Streamable HTTP for one path of a server, after its guard. */
export interface McpHttpHandler {
  /** Everything that the request creates belongs to the principal. */
  handle(request: IncomingMessage, response: ServerResponse, principal: string): Promise<void>;
  /** Ends the protocol sessions and the streams. */
  close(): Promise<void>;
}

/**
 * Serves both revisions: 2026-07-28 without state, and 2025-11-25 in sessions, or without a session for single
 * requests.
 */
export function createHttpHandler(door: McpDoor): McpHttpHandler {
  const { logger, monotonicMs } = door.platform;
  const onerror = (error: Error): void => logger.debug({ err: error }, "mcp");
  const stateless = createMcpHandler(({ authInfo }) => door.createServer(principalOf(authInfo)), {
    onerror,
    maxRequestBodySize: maxMessageBytes,
  });
  const sessions = new HttpSessions({
    createServer: (principal, connection) => door.createServer(principal, connection),
    onEnd: (principal, connection) => void door.endConnection(principal, connection),
    monotonicMs,
    maxRequestBytes: maxMessageBytes,
  });
  const fetch = async (request: Request, principal: string): Promise<Response> => {
    const sessionId = request.headers.get("mcp-session-id");
    if (sessionId !== null) return sessions.handle(sessionId, principal, request);
    const body = request.method === "POST" ? await jsonOf(request.clone()) : undefined;
    const refused = refuseTaskSubscription(body);
    if (refused !== null) return Response.json(refused, { status: 400 });
    const beginsSession = isInitializeRequest(body) && (await isLegacyRequest(request, body));
    return beginsSession
      ? sessions.open(principal, request, body)
      : stateless.fetch(request, { authInfo: { token: "", clientId: principal, scopes: [] } });
  };
  return {
    handle: (request, response, principal) =>
      toNodeHandler({ fetch: (each) => fetch(each, principal) }, { onerror, maxRequestBodySize: maxMessageBytes })(
        request as NodeRequest,
        response,
      ),
    close: async () => {
      await sessions.close();
      await stateless.close();
    },
  };
}

/** Each request is passed on with it. */
function principalOf(authInfo: { readonly clientId: string } | undefined): string {
  if (authInfo === undefined) throw new TypeError("The request has no principal.");
  return authInfo.clientId;
}

async function jsonOf(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch {
    // The handler that answers it reports what is wrong.
    return undefined;
  }
}
