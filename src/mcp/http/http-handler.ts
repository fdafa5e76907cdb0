import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, isInitializeRequest, isLegacyRequest } from "@modelcontextprotocol/server";
import { createHttpGuard, type HttpGuardOptions } from "./http-guard.ts";
import { HttpSessions } from "./http-sessions.ts";
import type { McpDoor } from "../mcp-door.ts";
import { maxMessageBytes } from "../stdio/stdio-transport.ts";

/** The adapter's view of Node's request: a server's always has a method and a URL. */
type NodeRequest = IncomingMessage & { readonly method: string; readonly url: string };

/** Streamable HTTP for one path of a server that listens on loopback. */
export interface McpHttpHandler {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends the protocol sessions and the streams. */
  close(): Promise<void>;
}

/**
 * Serves both revisions: 2026-07-28 without state, 2025-11-25 in sessions, or without one for single requests.
 * What the guard refuses reaches neither.
 */
export function createHttpHandler(
  door: McpDoor,
  { principal, ...rules }: HttpGuardOptions & { readonly principal: string },
): McpHttpHandler {
  const { logger, monotonicMs } = door.platform;
  const onerror = (error: Error): void => logger.debug({ err: error }, "mcp");
  const createServer = () => door.createServer(principal);
  const onEnd = (connection: string): void => void door.endConnection(principal, connection);
  const stateless = createMcpHandler(createServer, { onerror, maxRequestBodySize: maxMessageBytes });
  const sessions = new HttpSessions({
    createServer: (connection) => door.createServer(principal, connection),
    onEnd,
    monotonicMs,
    maxRequestBytes: maxMessageBytes,
  });
  const fetch = async (request: Request): Promise<Response> => {
    const sessionId = request.headers.get("mcp-session-id");
    if (sessionId !== null) return sessions.handle(sessionId, request);
    const body = request.method === "POST" ? await jsonOf(request.clone()) : undefined;
    const beginsSession = isInitializeRequest(body) && (await isLegacyRequest(request, body));
    return beginsSession ? sessions.open(request, body) : stateless.fetch(request);
  };
  const node = toNodeHandler({ fetch }, { onerror, maxRequestBodySize: maxMessageBytes });
  const guard = createHttpGuard(rules);
  return {
    handle: async (request, response) => {
      if (guard(request, response)) await node(request as NodeRequest, response);
    },
    close: async () => {
      await sessions.close();
      await stateless.close();
    },
  };
}

async function jsonOf(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch {
    // Whoever answers it says what is wrong.
    return undefined;
  }
}
