import { createServer, type IncomingMessage, type ServerResponse, type Server } from "node:http";
import { Readable } from "node:stream";
import { toWebRequest } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  ProtocolErrorCode,
  isJSONRPCRequest,
  WebStandardStreamableHTTPServerTransport,
  type McpServer,
} from "@modelcontextprotocol/server";
import type { McpDoor } from "./mcp-door.ts";
import type { HeldBytes } from "../calls/bytes-in-flight.ts";
import { LoopTurns } from "../calls/loop-turns.ts";
import { toGloveboxError, GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { noRoom, readMessage, notCounted, sendResponse } from "./http-messages.ts";
import { failure } from "./json-rpc.ts";
import { refuseTaskSubscription } from "./tasks.ts";
import { errorCatalogue } from "../errors/catalogue.ts";
import { createId } from "../base/id.ts";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { ConnectionShares, guardConnections } from "../base/http/connections.ts";
import { isLoopback, bearerOf, judgeRequest, type GuardRefusal } from "../base/http/request-head.ts";
import { beginRequestSpan, endRequestSpan } from "../base/tracer.ts";
import { settlesWithin } from "../base/abort.ts";
import { secretCheck } from "../base/http/token-proof.ts";

/** The adapter's view of Node's request: a server's always has a method and a URL. */
type NodeRequest = IncomingMessage & { readonly method: string; readonly url: string };

/** Who sends a request; `revoked` aborts when their key ends, and with it everything they have open. */
export interface McpCaller {
  readonly principal: string;
  readonly revoked?: AbortSignal | undefined;
}

/** Streamable HTTP for one path of a server, after its guard. */
export interface McpHttpHandler {
  /** Everything that the request creates belongs to the principal. */
  handle(request: IncomingMessage, response: ServerResponse, caller: McpCaller): Promise<void>;
  /** Ends the protocol sessions and the streams. */
  close(): Promise<void>;
}

/**
 * Serves both revisions: 2026-07-28 without state, and 2025-11-25 in sessions, or without a session for single
 * requests.
 */
export function createHttpHandler(door: McpDoor): McpHttpHandler {
  const { inFlight } = door;
  const turns = new LoopTurns();
  const { logger, monotonicMs } = door.platform;
  const onerror = (error: Error): void => logger.debug({ err: error }, "mcp");
  const stateless = createMcpHandler(({ authInfo }) => door.createServer(principalOf(authInfo)), { onerror });
  const sessions = new HttpSessions({
    createServer: (principal, connection) => door.createServer(principal, connection),
    onEnd: (principal, connection) => void door.endConnection(principal, connection),
    monotonicMs,
  });
  const fetch = async (request: Request, principal: string, body: unknown): Promise<Response> => {
    const sessionId = request.headers.get("mcp-session-id");
    if (sessionId !== null) return sessions.handle(sessionId, principal, { request, body });
    const refused = refuseTaskSubscription(body);
    if (refused !== null) return Response.json(refused, { status: 400 });
    const beginsSession = isInitializeRequest(body) && (await isLegacyRequest(request, body));
    return beginsSession
      ? sessions.open(principal, request, body)
      : stateless.fetch(request, { authInfo: { token: "", clientId: principal, scopes: [] }, parsedBody: body });
  };
  return {
    handle: async (request, response, { principal, revoked }) => {
      let held: HeldBytes;
      try {
        held = inFlight.hold(principal);
      } catch (error) {
        return sendResponse(noRoom(toGloveboxError(error)).refused, response, notCounted);
      }
      response.once("close", () => held.release());
      const posted = request.method === "POST" ? await readMessage(request, held) : { value: undefined };
      // The client left before it had sent all of it.
      if (posted === null) return;
      if (revoked !== undefined) endWhenRevoked(revoked, "value" in posted ? posted.value : null, response);
      // From here on the arguments of a call count until it has ended.
      held.set(0);
      const signal = untilClosed(response);
      // A server for a message takes its time to make: those of others come between two of one principal.
      await turns.take(principal);
      try {
        const answer =
          "refused" in posted
            ? posted.refused
            : await fetch(await toWebRequest(withoutBody(request), undefined, { signal }), principal, posted.value);
        await sendResponse(answer, response, held);
      } catch (error) {
        onerror(error as Error);
        const { failure: body } = failure(null, ProtocolErrorCode.InternalError, "Internal error.");
        await sendResponse(Response.json(body, { status: 500 }), response, held);
      }
    },
    close: async () => {
      await sessions.close();
      await stateless.close();
    },
  };
}

/** Time for calls that end with the key to be answered first. */
const goodbyeAfterMs = 700;

/** Maximum sessions of one principal; beyond that, its own that was idle longest ends. */
const maxOfOne = 128;
/** Maximum of all; beyond that, the principal that has most loses its own that was idle longest. */
const maxSessions = 256;
/** A session ends after this long without use. */
const maxIdleMs = 30 * 60_000;

interface Session {
  readonly principal: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  lastUsedMs: number;
}

interface HttpSessionsOptions {
  readonly createServer: (principal: string, connection: string) => McpServer;
  readonly onEnd: (principal: string, connection: string) => void;
  readonly monotonicMs: () => number;
}

/** Protocol sessions of clients that speak 2025-11-25: begun by `initialize`, ended by DELETE. */
export class HttpSessions {
  readonly #options: HttpSessionsOptions;
  readonly #sessions = new Map<string, Session>();

  constructor(options: HttpSessionsOptions) {
    this.#options = options;
  }

  /** Answers the `initialize` request that begins a session. */
  async open(principal: string, request: Request, parsedBody: unknown): Promise<Response> {
    await this.#endIdle();
    const { createServer, monotonicMs, onEnd } = this.#options;
    const connection = createId("mcp");
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => connection,
      onsessioninitialized: (id) => {
        this.#sessions.set(id, { principal, transport, lastUsedMs: monotonicMs() });
        void this.#endSurplus(principal);
      },
      onsessionclosed: (id) => {
        this.#sessions.delete(id);
        onEnd(principal, id);
      },
    });
    await createServer(principal, connection).connect(transport);
    return transport.handleRequest(request, { parsedBody });
  }

  /** Answers a request that names its session; other principals' sessions are treated as unknown. */
  handle(
    id: string,
    principal: string,
    { request, body }: { readonly request: Request; readonly body: unknown },
  ): Promise<Response> | Response {
    const session = this.#sessions.get(id);
    if (session === undefined || session.principal !== principal) {
      const error = { code: -32_001, message: "Session not found: it has ended. Start a new one with initialize." };
      return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 });
    }
    session.lastUsedMs = this.#options.monotonicMs();
    return session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)));
  }

  async #endIdle(): Promise<void> {
    const usedBefore = this.#options.monotonicMs() - maxIdleMs;
    const ending = [...this.#sessions].filter(([, { lastUsedMs }]) => lastUsedMs < usedBefore);
    await Promise.all(ending.map(([id]) => this.#end(id)));
  }

  /** Ends one session if the newest of the principal is one too many. */
  async #endSurplus(newest: string): Promise<void> {
    const counts = new Map<string, number>();
    for (const { principal } of this.#sessions.values()) counts.set(principal, (counts.get(principal) ?? 0) + 1);
    const own = counts.get(newest) ?? 0;
    if (own <= maxOfOne && this.#sessions.size <= maxSessions) return;
    // Who has as many as the newest's principal keeps them.
    let loser = newest;
    let most = own;
    for (const [principal, count] of own > maxOfOne ? [] : counts) {
      if (count <= most) continue;
      loser = principal;
      most = count;
    }
    const ofLoser = [...this.#sessions].filter(([, { principal }]) => principal === loser);
    const [longestIdle] = ofLoser.toSorted(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs);
    if (longestIdle !== undefined) await this.#end(longestIdle[0]);
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    await session?.transport.close();
    if (session !== undefined) this.#options.onEnd(session.principal, id);
  }
}

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

/** Aborts when the client leaves before it has its answer. */
function untilClosed(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}

/** The request for the adapter, which would read and copy the body once more: it has been read. */
function withoutBody({ method = "", url = "", headers }: IncomingMessage): NodeRequest {
  const { "content-length": _, ...others } = headers;
  return Object.assign(Readable.from([]), { method, url, headers: others }) as unknown as NodeRequest;
}

/** Each request is passed on with it. */
function principalOf(authInfo: { readonly clientId: string } | undefined): string {
  if (authInfo === undefined) throw new TypeError("The request has no principal.");
  return authInfo.clientId;
}

/**
 * Ends the answer to a message, streams included, with CANCELLED a moment after its caller's key was revoked: as the
 * error of the request that it answers, or in a stream that answers none as a notification.
 */
function endWhenRevoked(revoked: AbortSignal, message: unknown, response: ServerResponse): void {
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    timer = setTimeout(() => sayGoodbye(message, response), goodbyeAfterMs).unref();
  };
  if (revoked.aborted) end();
  else revoked.addEventListener("abort", end, { once: true });
  response.once("close", () => {
    revoked.removeEventListener("abort", end);
    clearTimeout(timer);
  });
}

function sayGoodbye(message: unknown, response: ServerResponse): void {
  if (response.writableEnded) return;
  const error = new GloveboxError("CANCELLED", "The API key was revoked or has expired.", {
    suggestion: "Ask the operator for another key.",
    context: { reason: "key_revoked" },
  });
  const body = JSON.stringify(isJSONRPCRequest(message) ? answerTo(message.id, error) : notice(error));
  if (!response.headersSent) {
    response.writeHead(errorCatalogue.CANCELLED.httpStatus, {
      "content-type": "application/json",
      connection: "close",
    });
    response.end(body);
  } else response.end(`event: message\ndata: ${body}\n\n`);
}

function answerTo(id: string | number, error: GloveboxError): object {
  return failure(id, errorCatalogue.CANCELLED.jsonRpcCode, error.message, error.toWire()).failure;
}

function notice(error: GloveboxError): object {
  const params = { level: "error", logger: "glovebox", data: error.toWire() };
  return { jsonrpc: "2.0", method: "notifications/message", params };
}
