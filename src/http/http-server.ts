import type { AddressInfo } from "node:net";
import { fastifyWebsocket } from "@fastify/websocket";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { settlesWithin } from "../base/abort.ts";
import { ConnectionShares, guardConnections } from "../base/http/connections.ts";
import { isLoopback, bearerOf, judgeRequest, headBytes, type GuardRules } from "../base/http/request-head.ts";
import { kibibyte, mebibyte } from "../base/bytes.ts";
import type { BytesInFlight } from "../calls/bytes-in-flight.ts";
import { isEnding } from "../calls/running-calls.ts";
import { invalidField } from "../errors/glovebox-error.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";
import type { Platform } from "../platform/platform.ts";
import { addByteRoutes } from "./byte-routes.ts";
import { apiDocument, json, documentationPage, type ApiPaths } from "./document.ts";
import {
  divertUpgrades,
  handOver,
  servePreviews,
  addHealthRoutes,
  engineAnswers,
  storeAnswers,
  addMcpRoute,
  addMetricsRoute,
  timeRequests,
  traceRequests,
  answerUnknownRoutes,
  type ReadinessCheck,
  type ServeMcp,
} from "./routes/server-routes.ts";
import { addOperationRoutes } from "./routes/operation-routes.ts";
import type { AddRoutes, RouteContext } from "./routes/route-context.ts";
import { addSandboxRoutes, addLiveRoutes } from "./routes/sandbox-routes.ts";
import { Tickets, ticketSeconds } from "./authentication.ts";
import { HttpRuns } from "./http-runs.ts";
import { ofEveryAnswer, sendError, HttpRefusal, jsonType } from "./http-answer.ts";
import { answerBrokenRequest, maxParsedBytes, headersTooLarge, maxHeadBytes } from "./broken-request.ts";
import { holdBytes, maxBodyBytes, readJsonBodies } from "./request-body.ts";
import { callerOf, type Authenticate, type Caller } from "./caller.ts";
import type { ServerResponse } from "node:http";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { ConsoleFiles } from "./bundle-console.ts";
import { nonceForm, serverProof } from "../base/http/token-proof.ts";

export interface HttpServerOptions extends GuardOptions {
  readonly platform: Platform;
  /** Those that are open to every principal are served, each at its routes. */
  readonly operations: readonly OperationContract[];
  /** Version of Glovebox. */
  readonly version: string;
  /** What callers may have on its way; shared with MCP. */
  readonly inFlight: BytesInFlight;
  /** The user's own token, if the server accepts it: its knowledge is proven, but it is never sent. */
  readonly token?: string | null | undefined;
  /** MCP at `/mcp`; undefined: none. */
  readonly mcp?: ServeMcp | undefined;
  /** What must answer, in addition to the engine, before the server reports itself ready. */
  readonly readiness?: readonly ReadinessCheck[] | undefined;
  /** Routes in addition to those of the operations. */
  readonly extraRoutes?: readonly AddRoutes[] | undefined;
  /** What `/openapi.json` says of those. */
  readonly extraPaths?: ApiPaths | undefined;
}

/** A server that listens. */
export interface HttpServer {
  readonly url: string;
  /** Refuses new work, and waits at most this long for running work. */
  drain(withinMs: number): Promise<void>;
  /** Ends the runs of a principal; its clients are notified. */
  cancelRuns(principal: string): void;
  /** Ends running work within 4 s; its clients are notified. */
  endRuns(): Promise<void>;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** For a WebSocket: four times what a command and its variables may have together. */
const maxMessageBytes = mebibyte;
const headersWithinMs = 10_000;
const requestWithinMs = 60_000;
const checkConnectionsEachMs = 2_000;
/** How long cancelled work may take to end before its sandboxes are removed by force. */
const lastCallsMs = 4_000;
/** What may be on its way of one request to a preview and its answer, as much as the connection to its program holds. */
const previewBytes = 256 * kibibyte;
/** A path of 4096 characters, percent-encoded. */
const maxParamLength = 3 * 4096;

/** Serves the operations over HTTP. @throws INVALID_REQUEST if the port cannot be used */
export async function openHttpServer(
  options: HttpServerOptions & { readonly host: string; readonly port: number },
): Promise<HttpServer> {
  const { host, port } = options;
  await options.platform.serverMetrics.open();
  const runs = new HttpRuns(options.platform);
  const state = { isDraining: false };
  const connections = new ConnectionShares();
  const app = await createApp(options, { runs, connections, isDraining: () => state.isDraining });
  await app.ready();
  divertUpgrades(app, options.platform.previewGateway);
  guardConnections(app.server);
  connections.watch(app.server);
  try {
    // For the name, a second server would be made for ::1, without the bounds of the first.
    await app.listen({ host: host === "localhost" ? "127.0.0.1" : host, port });
  } catch (error) {
    await app.close();
    throw invalidField("--port", "an address and a port that are free and may be used", `${host}:${port}`, error);
  }
  const { address, family, port: chosen } = app.server.address() as AddressInfo;
  const { previewGateway } = options.platform;
  previewGateway.servedAt({ port: chosen, isLoopback: isLoopback(host), room: previewRoom(connections, options) });
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${chosen}`,
    drain: async (withinMs) => {
      state.isDraining = true;
      await runs.calls.drain(withinMs);
    },
    cancelRuns: (principal) => runs.calls.cancelAll(principal),
    endRuns: async () => void (await settlesWithin(runs.calls.close(), lastCallsMs)),
    close: () => app.close(),
  };
}

/** What previews take counts apart from their owner's own requests. */
function previewRoom(connections: ConnectionShares, { inFlight }: Pick<HttpServerOptions, "inFlight">) {
  return { connections, hold: (principal: string) => inFlight.hold(`previews of ${principal}`, previewBytes) };
}

interface ServerState {
  readonly runs: HttpRuns;
  readonly connections: ConnectionShares;
  readonly isDraining: () => boolean;
}

async function createApp(
  options: HttpServerOptions,
  { runs, connections, isDraining }: ServerState,
): Promise<FastifyInstance> {
  const { platform, operations, version, inFlight, mcp, readiness = [], extraRoutes = [], extraPaths } = options;
  const { logger, previewGateway } = platform;
  const app = fastify({
    bodyLimit: maxBodyBytes,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength },
    requestTimeout: requestWithinMs,
    forceCloseConnections: true,
    http: {
      ...{ noDelay: true, maxHeaderSize: maxParsedBytes, headersTimeout: headersWithinMs },
      connectionsCheckingInterval: checkConnectionsEachMs,
    },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      if (!handOver(previewGateway, request, reply)) void sendError(reply, error, logger);
    },
    return503OnClosing: false,
  });
  // Their size is what is bounded.
  app.server.maxHeadersCount = 0;
  const assertTakesWork = (): void => {
    if (isDraining()) throw isEnding();
  };
  const context: RouteContext = { platform, logger, version, operations, runs, inFlight, isDraining, assertTakesWork };
  readJsonBodies(app, inFlight);
  servePreviews(app, previewGateway);
  timeRequests(app, platform);
  const tickets = new Tickets(platform.monotonicMs);
  await app.register(fastifyWebsocket, { options: { maxPayload: maxMessageBytes, perMessageDeflate: false } });
  guardRequests(app, { ...options, connections, takeTicket: (ticket) => tickets.take(ticket) });
  traceRequests(app, platform);
  answerUnknownRoutes(app);
  // A response's own headers override these.
  app.addHook("onSend", async (_, reply) => void reply.headers({ ...ofEveryAnswer, ...reply.getHeaders() }));
  holdBytes(app, inFlight);
  app.setErrorHandler((error, request, reply) => {
    // The rest of a body that is not read would be taken for the next request.
    if (!request.raw.complete) void reply.header("connection", "close");
    return sendError(reply, error, logger);
  });
  addHealthRoutes(app, context, [engineAnswers(platform), ...storeAnswers(platform), ...readiness]);
  addOperationRoutes(app, context);
  addByteRoutes(app, context);
  addLiveRoutes(app, context);
  addSandboxRoutes(app, context);
  addTicketRoute(app, tickets);
  addDocumentRoutes(app, context, { ...ticketPaths, ...extraPaths });
  addMetricsRoute(app, context);
  addConsoleRoutes(app, () => previewGateway.pageSource);
  addProofRoute(app, options.token ?? null);
  if (mcp !== undefined) addMcpRoute(app, context, mcp);
  for (const addRoutes of extraRoutes) addRoutes(app, context);
  return app;
}

interface GuardOptions {
  readonly rules: GuardRules;
  readonly authenticate: Authenticate;
}

/** What the server has for it. */
interface GuardParts {
  readonly connections: ConnectionShares;
  /** The owner of a ticket, which opens one WebSocket; null: nobody. */
  readonly takeTicket: (ticket: string) => Caller | null;
}

/** What a page of an allowed origin may send. */
const forPages = {
  "access-control-allow-methods": "GET, POST, PUT, DELETE, OPTIONS",
  "access-control-allow-headers":
    "authorization, content-type, accept, range, prefer, idempotency-key, last-event-id, traceparent, tracestate, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name",
  "access-control-max-age": "600",
} as const;
/** Response headers that it may read in addition to the default ones. */
const readableByPages =
  "location, retry-after, content-range, accept-ranges, glovebox-run-id, preference-applied, mcp-session-id, www-authenticate";

/**
 * Checks each request before any of its body is read: which page sent it, whose token it has, and whether it is allowed
 * now.
 */
function guardRequests(app: FastifyInstance, options: GuardOptions & GuardParts): void {
  app.decorateRequest("caller", null);
  app.addHook("onRequest", async (request, reply) => {
    if (headBytes(request.raw) > maxHeadBytes) throw headersTooLarge();
    const refusal = judgeRequest(request.raw, options.rules);
    if (refusal !== null) throw new HttpRefusal(refusal.status, refusal.errorType, refusal.message, refusal);
    if (isAnswered(request, reply) || request.routeOptions.config.isOpen === true) return;
    const caller = ticketCaller(request, options) ?? (await options.authenticate(bearerOf(request.headers)));
    if (caller === null) throw noToken(reply);
    request.caller = caller;
    caller.countRequest?.();
    claim(options.connections, request, reply);
    if (caller.revoked !== undefined) endWhenRevoked(caller.revoked, reply.raw);
  });
}

/** Counts the connection for the caller. @throws CAPACITY, and then it ends after the answer */
function claim(connections: ConnectionShares, { raw, caller }: FastifyRequest, reply: FastifyReply): void {
  try {
    if (caller !== null) connections.claim(raw.socket, caller);
  } catch (error) {
    void reply.header("connection", "close");
    throw error;
  }
}

/** Pages cannot send a token with a WebSocket; a ticket is good for nothing else. */
function ticketCaller({ ws, query }: FastifyRequest, { takeTicket }: GuardParts): Caller | null {
  const { ticket } = query as { readonly ticket?: unknown };
  return ws && typeof ticket === "string" ? takeTicket(ticket) : null;
}

/** The CORS part, for pages of allowed origins; their browsers send a preflight request first, without the token. */
function isAnswered(request: FastifyRequest, reply: FastifyReply): boolean {
  const { origin, "access-control-request-method": asks } = request.headers;
  if (origin === undefined) return false;
  void reply.headers({
    "access-control-allow-origin": origin,
    "access-control-expose-headers": readableByPages,
    vary: "origin",
  });
  if (request.method !== "OPTIONS" || asks === undefined) return false;
  void reply.code(204).headers(forPages).send();
  return true;
}

function noToken(reply: FastifyReply): HttpRefusal {
  void reply.header("www-authenticate", 'Bearer realm="glovebox"');
  return new HttpRefusal(401, "PERMISSION_DENIED", "This server requires a token; none or an unknown one was sent.", {
    suggestion:
      'Send the header "Authorization: Bearer TOKEN" with your API key, or on the server\'s own machine with the token of the file that `glovebox serve` names when it starts.',
  });
}

/** Time for a run that was ended to report it. */
const lastAnswerMs = 1000;

/**
 * Closes the connection of a response, streams included, that is still in progress a moment after its caller's key was
 * revoked.
 */
function endWhenRevoked(revoked: AbortSignal, response: ServerResponse): void {
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    timer = setTimeout(() => response.socket?.destroy(), lastAnswerMs).unref();
  };
  revoked.addEventListener("abort", end, { once: true });
  response.once("close", () => {
    revoked.removeEventListener("abort", end);
    clearTimeout(timer);
  });
}

/** Where previews are reached, which the console shows in a frame: a source of a content policy, known once the server listens. */
type FrameSource = () => string;

/**
 * `/`: the console, and the two files that it loads. They are open to everyone and contain nothing about this
 * deployment; the page gets what it shows from the API, with its user's token.
 */
function addConsoleRoutes(app: FastifyInstance, frameSource: FrameSource): void {
  const open = { config: { isOpen: true } };
  let opening: Promise<ConsoleAssets> | undefined;
  const assets = (): Promise<ConsoleAssets> => {
    opening ??= openConsoleAssets().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  app.get("/", open, async (request, reply) => {
    const { html } = await assets();
    const tag = `"${digest(html)}"`;
    void reply.headers({ ...safeHeaders, "content-security-policy": contentPolicy(frameSource()) });
    void reply.headers({ "cache-control": "no-cache", etag: tag });
    if (request.headers["if-none-match"] === tag) return reply.code(304).send();
    return reply.type("text/html; charset=utf-8").send(html);
  });
  app.get<{ Params: { file: string } }>("/console/:file", open, async (request, reply) => {
    const { script, style, scriptName, styleName } = await assets();
    if (request.params.file === scriptName) return sendFile(reply, "text/javascript; charset=utf-8", script);
    if (request.params.file === styleName) return sendFile(reply, "text/css; charset=utf-8", style);
    throw new HttpRefusal(404, "NOT_FOUND", "The console has no such file.", {
      suggestion: "Load / again: its files have new names after an update.",
    });
  });
}

/** Its name changes with its content. */
function sendFile(reply: FastifyReply, type: string, text: string): FastifyReply {
  return reply
    .headers({ ...safeHeaders, "cache-control": "public, max-age=31536000, immutable" })
    .type(type)
    .send(text);
}

const safeHeaders = {
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

/**
 * Only our own files run, nothing is inserted as HTML, nothing else is loaded or requested, and no page may frame this
 * one.
 */
function contentPolicy(frameSource: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    `frame-src ${frameSource}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** The page and its files, at paths that change with their content. */
interface ConsoleAssets extends ConsoleFiles {
  readonly html: string;
  readonly scriptName: string;
  readonly styleName: string;
}

/** Reads the published files of the console; in a checkout they are bundled from the sources. */
async function openConsoleAssets(): Promise<ConsoleAssets> {
  const isCheckout = import.meta.url.endsWith(".ts");
  const files = isCheckout ? await (await import("./bundle-console.ts")).bundleConsole() : await readPublished();
  const scriptName = `${digest(files.script)}.js`;
  const styleName = `${digest(files.style)}.css`;
  return { ...files, scriptName, styleName, html: pageOf({ scriptName, styleName }) };
}

async function readPublished(): Promise<ConsoleFiles> {
  const read = (name: string): Promise<string> => readFile(new URL(`../console/${name}`, import.meta.url), "utf8");
  return { script: await read("console.js"), style: await read("console.css") };
}

/** Identifies a text, for caches. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 20);
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%234f5bd5'/%3E%3Cpath d='M9 9h14v14H9z' fill='none' stroke='white' stroke-width='2.5'/%3E%3Ccircle cx='16' cy='16' r='3' fill='white'/%3E%3C/svg%3E";

/** Contains nothing about this deployment, so everyone may load it. */
function pageOf({ scriptName, styleName }: Pick<ConsoleAssets, "scriptName" | "styleName">): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Glovebox</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="/console/${styleName}">
<script type="module" src="/console/${scriptName}"></script>
</head>
<body>
<div id="console"><noscript>The console needs JavaScript. The API is described at <a href="/docs">/docs</a>.</noscript></div>
</body>
</html>
`;
}

/**
 * `/console/proof/{nonce}`: proves that this server knows the user's token, to `glovebox console`, which sends the
 * token to no other. The token has 256 random bits, so it cannot be derived from proofs. Null: the server requires
 * none.
 */
function addProofRoute(app: FastifyInstance, token: string | null): void {
  app.get<{ Params: { nonce: string } }>("/console/proof/:nonce", { config: { isOpen: true } }, (request, reply) => {
    const { nonce } = request.params;
    if (!nonceForm.test(nonce)) throw invalidField("nonce", "64 hexadecimal digits", nonce);
    const { port } = app.server.address() as AddressInfo;
    return reply.send({ proof: token === null ? null : serverProof(token, { nonce, port }) });
  });
}

/** `POST /api/tickets`: a ticket with which a page opens a WebSocket, as `?ticket=`. */
function addTicketRoute(app: FastifyInstance, tickets: Tickets): void {
  app.post("/api/tickets", (request, reply) => {
    const ticket = tickets.make(callerOf(request));
    return reply.type(jsonType).send(JSON.stringify({ ticket, expires_in_seconds: ticketSeconds }));
  });
}

/** The same for the API's document. */
const ticketPaths: ApiPaths = {
  "/api/tickets": {
    post: {
      operationId: "make_ticket",
      summary: "A ticket that opens one WebSocket.",
      description: `For browsers, which cannot send a header with it: \`?ticket=\` opens one WebSocket within ${ticketSeconds} s.`,
      responses: {
        "200": {
          description: "The ticket.",
          content: json({
            type: "object",
            required: ["ticket", "expires_in_seconds"],
            properties: { ticket: { type: "string" }, expires_in_seconds: { type: "integer" } },
          }),
        },
      },
    },
  },
};

/** Nothing of the page may load or do anything. */
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

/** `/openapi.json`, and `/docs` for people; both are open, and contain nothing about this deployment. */
function addDocumentRoutes(
  app: FastifyInstance,
  { version, operations }: RouteContext,
  extraPaths: ApiPaths | undefined,
): void {
  const document = apiDocument({ version, operations, extraPaths });
  const texts = { json: JSON.stringify(document), html: documentationPage(document) };
  const open = { config: { isOpen: true } };
  app.get("/openapi.json", open, (_, reply) => reply.type(jsonType).send(texts.json));
  app.get("/docs", open, (_, reply) =>
    reply.type("text/html; charset=utf-8").header("content-security-policy", pagePolicy).send(texts.html),
  );
}
