import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ConnectionShares, guardConnections } from "../base/http/connections.ts";
import { isLoopback, bearerOf, judgeRequest, type GuardRefusal } from "../base/http/request-head.ts";
import { beginRequestSpan, endRequestSpan } from "../base/tracer.ts";
import { settlesWithin } from "../base/abort.ts";
import { GloveboxError, invalidField, toGloveboxError } from "../errors/glovebox-error.ts";
import { createHttpHandler } from "./http-handler.ts";
import { noRoom } from "./read-message.ts";
import { notCounted, sendResponse } from "./send-response.ts";
import type { McpDoor } from "./mcp-door.ts";
import { errorCatalogue } from "../errors/catalogue.ts";
import { secretCheck } from "../base/http/token-proof.ts";

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

interface HttpGuardOptions {
  /** The token that a request must have; null: none. */
  readonly token: string | null;
  /** Origins of web pages that may call, such as `https://app.example`. */
  readonly allowedOrigins: readonly string[];
}

/** Lets a request pass, or answers it. */
type HttpGuard = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Headers that a page of an allowed origin may send and read. */
const forPages = {
  "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
  "access-control-allow-headers":
    "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name",
  "access-control-max-age": "600",
};

/**
 * Guards a server on loopback, which the machine's other users and every web page in its browsers can reach too (SPEC
 * API2): requires a `Host` of this machine, no `Origin` except allowed ones, and the token, compared in constant time.
 */
function createHttpGuard({ token, allowedOrigins }: HttpGuardOptions): HttpGuard {
  const rules = { loopbackOnly: true, allowedHosts: [], allowedOrigins };
  const isToken = token === null ? () => true : secretCheck(token);
  return (request, response) => {
    const refusal = judgeRequest(request, rules);
    if (refusal !== null) return refuse(response, refusal);
    const { origin } = request.headers;
    if (origin !== undefined) {
      response.setHeader("access-control-allow-origin", origin);
      response.setHeader("access-control-expose-headers", "mcp-session-id, www-authenticate");
      response.setHeader("vary", "origin");
      // Browsers send a preflight request first, without the token.
      if (request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined) {
        response.writeHead(204, forPages).end();
        return false;
      }
    }
    if (isToken(bearerOf(request.headers))) return true;
    response.setHeader("www-authenticate", 'Bearer realm="glovebox"');
    return refuse(response, noToken);
  };
}

const noToken: GuardRefusal = {
  status: 401,
  errorType: "PERMISSION_DENIED",
  message: "This server requires its user's token; none or a wrong one was sent.",
  suggestion:
    'Send the header "Authorization: Bearer TOKEN" with the token of the file that `glovebox mcp --http` names when it starts; docs/mcp.md shows how.',
};

function refuse(response: ServerResponse, { status, errorType, message, suggestion }: GuardRefusal): false {
  const data = { error_type: errorType, message, suggestion, context: {} };
  const body = {
    jsonrpc: "2.0",
    id: null,
    error: { code: errorCatalogue[errorType].jsonRpcCode, message: `${message} ${suggestion}`, data },
  };
  response.writeHead(status, { "content-type": "application/json", connection: "close" }).end(JSON.stringify(body));
  return false;
}
