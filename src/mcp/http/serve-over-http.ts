import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ConnectionShares } from "../../base/http/connection-shares.ts";
import { guardConnections } from "../../base/http/guard-connections.ts";
import { isLoopback } from "../../base/http/judge-request.ts";
import { beginRequestSpan, endRequestSpan } from "../../base/http/request-span.ts";
import { settlesWithin } from "../../base/abort.ts";
import { GloveboxError, invalidField, toGloveboxError } from "../../errors/glovebox-error.ts";
import { createHttpGuard, type HttpGuardOptions } from "./http-guard.ts";
import { createHttpHandler } from "./http-handler.ts";
import { noRoom } from "./read-message.ts";
import { notCounted, sendResponse } from "./send-response.ts";
import type { McpDoor } from "../mcp-door.ts";

/** How long to wait for answers at the end. */
const lastAnswersMs = 1000;
const headersWithinMs = 10_000;
/** The one path that is served. */
const servedPath = "/mcp";

export interface HttpOptions extends HttpGuardOptions {
  /** A name or an address of this machine's loopback. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The principal of all calls. */
  readonly principal: string;
  /** Ends the service. */
  readonly signal: AbortSignal;
  /** Called once it is listening. */
  readonly onListening: (url: string) => void;
}

/**
 * Serves Streamable HTTP on loopback until the signal aborts; then the work is ended and its callers are notified.
 * @throws POLICY_DENIED beyond loopback, where everyone on the network could run code
 */
export async function serveOverHttp(door: McpDoor, options: HttpOptions): Promise<void> {
  const { host, port, principal, signal } = options;
  if (!isLoopback(host)) {
    throw new GloveboxError("POLICY_DENIED", `MCP over HTTP only listens on loopback, not on ${host}.`, {
      suggestion: "Give only a port, and reach it from other machines through a tunnel such as ssh -L.",
      context: { host },
    });
  }
  const mcp = createHttpHandler(door);
  const guard = createHttpGuard(options);
  // Every user of the machine can connect.
  const connections = new ConnectionShares();
  const answering = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    if (request.url?.split("?", 1)[0] === servedPath) {
      if (!guard(request, response) || !hasRoom(connections, { request, response, principal })) return;
      const { method = "", headers } = request;
      const span = beginRequestSpan(door.platform.tracing, { method, route: servedPath, url: servedPath, headers });
      response.once("close", () => endRequestSpan(span, response.statusCode));
      const answered = span.run(() => mcp.handle(request, response, options)).finally(() => answering.delete(answered));
      answering.add(answered);
    } else response.writeHead(404, { "content-type": "text/plain" }).end(`MCP is served at ${servedPath}.\n`);
  });
  guardConnections(server);
  connections.watch(server);
  server.headersTimeout = headersWithinMs;
  await listen(server, host, port);
  const { address, family, port: chosen } = server.address() as AddressInfo;
  options.onListening(`http://${family === "IPv6" ? `[${address}]` : address}:${chosen}${servedPath}`);
  if (!signal.aborted) await once(signal, "abort");
  server.close();
  await door.endCalls();
  // Streams that only listen stay open until they are closed.
  await settlesWithin(Promise.all(answering), lastAnswersMs);
  await mcp.close();
  server.closeAllConnections();
}

/** Counts the connection of a caller, or answers that there is no room for it. */
function hasRoom(connections: ConnectionShares, { request, response, principal }: Asked): boolean {
  try {
    connections.claim(request.socket, { principal });
    return true;
  } catch (error) {
    void sendResponse(noRoom(toGloveboxError(error)).refused, response, notCounted);
    return false;
  }
}

interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly principal: string;
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw invalidField("--http", "a port that is free and may be used", `${host}:${port}`, error);
  }
}
