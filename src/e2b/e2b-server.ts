import { once } from "node:events";
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { settlesWithin } from "../base/abort.ts";
import { answerAndClose } from "../base/http/answer-and-close.ts";
import { ConnectionShares } from "../base/http/connection-shares.ts";
import { guardConnections } from "../base/http/guard-connections.ts";
import { bearerOf, isLoopback, judgeRequest, type GuardRules, type JudgedRequest } from "../base/http/judge-request.ts";
import { headBytes, hostCount } from "../base/http/request-head.ts";
import { beginRequestSpan, endRequestSpan } from "../base/http/request-span.ts";
import type { BytesInFlight } from "../calls/bytes-in-flight.ts";
import { isEnding } from "../calls/running-calls.ts";
import type { Config } from "../config/config.ts";
import { invalidField } from "../errors/glovebox-error.ts";
import type { Platform } from "../platform/platform.ts";
import { controlRoutes } from "./control/control-routes.ts";
import type { E2bContext } from "./e2b-context.ts";
import { findNamed, isForSandbox, partOf } from "./envd/gateway.ts";
import { PortGates } from "./envd/port-gates.ts";
import { serveFiles } from "./envd/files/serve-files.ts";
import { ProcessTable } from "./envd/processes/process-table.ts";
import { WatchTable } from "./envd/filesystem/watch-table.ts";
import { askedPort, serveSandbox } from "./envd/serve-sandbox.ts";
import { sendError, sendNothing, type Exchange } from "./http/exchange.ts";
import { answerOfError, E2bRefusal } from "./http/refusal.ts";
import { SandboxHosts } from "./http/sandbox-hosts.ts";
import { handleRoute } from "./http/routes.ts";
import { ExecutionBook } from "./interpreter/execution-book.ts";
import type { E2bCaller } from "./sandboxes/e2b-sandbox.ts";
import { E2bSandboxes } from "./sandboxes/e2b-sandboxes.ts";

export interface E2bServerOptions {
  readonly platform: Platform;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Whose requests may pass before their key is looked at. */
  readonly rules: GuardRules;
  /** The owner of a key; null: nobody. */
  readonly authenticate: (key: string) => E2bCaller | null | Promise<E2bCaller | null>;
  /** Below which ports of sandboxes have names; null: below `localhost` only. */
  readonly domain: Config["preview"]["domain"];
  /** What callers may have on its way; shared with the other doors. */
  readonly inFlight: BytesInFlight;
}

/** A server of E2B's API that listens. */
export interface E2bServer {
  readonly url: string;
  /** From now on no sandbox is created. */
  drain(): void;
  /** Forgets the sandboxes of a principal, whose sessions end otherwise. */
  endPrincipal(principal: string): void;
  /** Ends every sandbox and connection. */
  close(): Promise<void>;
}

const headersWithinMs = 10_000;
/** For a whole request with its body; answers may take longer. */
const requestWithinMs = 60_000;
const checkConnectionsEachMs = 2_000;
const maxHeadBytes = 16_384;
const serverOptions = { maxHeaderSize: 2 * maxHeadBytes, connectionsCheckingInterval: checkConnectionsEachMs };
/** Time for a run that was ended to report it. */
const lastAnswersMs = 1_000;

/** Serves E2B's API with our keys, grants and limits (SPEC E2). @throws INVALID_REQUEST if the port cannot be used */
export async function openE2bServer(options: E2bServerOptions): Promise<E2bServer> {
  const { platform, host, port, inFlight } = options;
  const sandboxes = new E2bSandboxes(platform);
  const connections = new ConnectionShares();
  const state = { isDraining: false };
  const assertTakesWork = (): void => {
    if (state.isDraining) throw isEnding();
  };
  const admit: E2bContext["admit"] = ({ request, response }, caller) => {
    caller.countRequest?.();
    connections.claim(request.socket, caller);
    endWhenRevoked(caller, response);
  };
  const processes = new ProcessTable();
  const watches = new WatchTable();
  const executions = new ExecutionBook();
  const hosts = new SandboxHosts(options.domain, isLoopback(host));
  const ports = new PortGates({ platform, sandboxes, hosts, connections, inFlight });
  const context: E2bContext = {
    ...{ platform, sandboxes, processes, watches, executions, hosts, ports },
    ...{ inFlight, assertTakesWork, admit },
  };
  const server = createServer(serverOptions, (request, response) => {
    void answer(request, response, { ...options, context });
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    upgrade(request, { socket, head }, { ...options, context }).catch((error: unknown) => refuseSocket(socket, error));
  });
  // Their size is what is bounded.
  server.maxHeadersCount = 0;
  guardConnections(server);
  connections.watch(server);
  server.headersTimeout = headersWithinMs;
  server.requestTimeout = requestWithinMs;
  await listen(server, host, port);
  const { address, family, port: chosen } = server.address() as AddressInfo;
  hosts.listensAt(chosen);
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${chosen}`,
    drain: () => void (state.isDraining = true),
    endPrincipal: (principal) => sandboxes.forgetAll(principal),
    close: async () => {
      state.isDraining = true;
      server.close();
      await settlesWithin(Promise.all(sandboxes.list().map((sandbox) => sandboxes.remove(sandbox))), lastAnswersMs);
      server.closeAllConnections();
    },
  };
}

interface AnswerParts extends E2bServerOptions {
  readonly context: E2bContext;
}

async function answer(request: IncomingMessage, response: ServerResponse, parts: AnswerParts): Promise<void> {
  const { method = "", headers, url = "/" } = request;
  const [path = "/", query = ""] = url.split("?", 2);
  const span = beginRequestSpan(parts.platform.tracing, { method, route: "", url: path, headers });
  const gone = new AbortController();
  response.once("close", () => {
    endRequestSpan(span, response.statusCode);
    if (!response.writableFinished) gone.abort();
  });
  const exchange = { request, response, path, query: new URLSearchParams(query), signal: gone.signal };
  try {
    await span.run(() => serve(exchange, parts));
  } catch (error) {
    if (!(error instanceof E2bRefusal))
      parts.platform.logger.debug({ err: error }, "a request of an E2B client failed");
    sendError(exchange, error);
  }
}

async function serve(exchange: Exchange, parts: AnswerParts): Promise<void> {
  const { request, response, path } = exchange;
  const { context } = parts;
  if (headBytes(request) > maxHeadBytes) throw new E2bRefusal(431, `headers: expected at most ${maxHeadBytes} bytes`);
  // Uploads may be compressed; their routes see to it.
  const { "content-encoding": _, ...headers } = request.headers;
  if (isForProgram(context, request)) return serveSandbox(context, exchange);
  judge({ headers, rawHeaders: request.rawHeaders }, parts);
  if (isPreflight(exchange)) return;
  if (isForSandbox(context, request)) return serveSandbox(context, exchange);
  if (request.method === "GET" && path === "/health") return sendNothing(response);
  // A link to a file: its signature is its key.
  if (path === "/files" && exchange.query.has("signature")) return serveFiles(context, exchange, null);
  const caller = await parts.authenticate(keyOf(request));
  if (caller === null) throw noKey();
  context.admit(exchange, caller);
  return handleRoute(controlRoutes, { method: request.method ?? "", path }, { ...context, exchange, caller });
}

/** Whether its host is that of a program's port, an origin of its own: its program sees to other pages. */
function isForProgram(context: E2bContext, { headers, rawHeaders }: IncomingMessage): boolean {
  const port = hostCount({ rawHeaders }) === 1 ? context.hosts.read(headers.host)?.port : undefined;
  return port !== undefined && partOf(port) === null;
}

/** @throws E2bRefusal for what a page of another origin, or a name that is not ours, makes a browser send */
function judge(request: JudgedRequest, { rules, context: { hosts } }: AnswerParts): void {
  const { host = "" } = request.headers;
  const named = hosts.read(host) === null ? [] : [host.toLowerCase().replace(/:\d+$/, "")];
  const allowedHosts = [...rules.allowedHosts, ...hosts.ownNames, ...named];
  const refusal = judgeRequest(request, { ...rules, allowedHosts });
  if (refusal !== null) throw new E2bRefusal(refusal.status, `${refusal.message} ${refusal.suggestion}`);
}

/** A WebSocket to a program's port; nothing else here has one. */
async function upgrade(
  request: IncomingMessage,
  { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
  parts: AnswerParts,
): Promise<void> {
  const { context } = parts;
  if (headBytes(request) > maxHeadBytes) throw new E2bRefusal(431, `headers: expected at most ${maxHeadBytes} bytes`);
  if (!isForProgram(context, request)) judge(request, parts);
  if (!isForSandbox(context, request)) throw new E2bRefusal(404, "There is no WebSocket here.");
  const { sandbox, port, part } = findNamed(context, request);
  if (part !== null) throw new E2bRefusal(404, "There is no WebSocket here.");
  await context.ports.upgrade(request, socket, head, askedPort(context, request, { sandbox, port }));
}

function refuseSocket(socket: Duplex, error: unknown): void {
  const { status, body } = answerOfError(error);
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "content-type: application/json",
    "connection: close",
  ];
  answerAndClose(socket, [...head, `content-length: ${Buffer.byteLength(text)}`, "", text].join("\r\n"));
}

/** The key in the header of E2B's SDKs, or as our own clients send it. Some clients insist on E2B's prefix before it. */
function keyOf({ headers }: IncomingMessage): string {
  const { "x-api-key": key } = headers;
  return typeof key === "string" ? key.replace(/^e2b_/, "") : bearerOf(headers);
}

function noKey(): E2bRefusal {
  return new E2bRefusal(
    401,
    "This server requires an API key of its own in the header X-API-Key; none or an unknown one was sent. Set E2B_API_KEY to a key of `glovebox keys add`.",
  );
}

/** Answers the request that a browser sends first for a page of an allowed origin; lets the page read other answers. */
function isPreflight({ request, response }: Exchange): boolean {
  const { origin, "access-control-request-method": asks } = request.headers;
  if (origin === undefined) return false;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-expose-headers", "x-next-token, x-total-running, retry-after");
  response.setHeader("vary", "origin");
  if (request.method !== "OPTIONS" || asks === undefined) return false;
  response
    .writeHead(204, {
      "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
      "access-control-allow-headers": request.headers["access-control-request-headers"] ?? "",
      "access-control-max-age": "600",
    })
    .end();
  return true;
}

/** Closes the connection of an answer that is still in progress a moment after its caller's key was revoked. */
function endWhenRevoked({ revoked }: E2bCaller, response: ServerResponse): void {
  if (revoked === undefined) return;
  const end = (): void => void setTimeout(() => response.destroy(), lastAnswersMs).unref();
  revoked.addEventListener("abort", end, { once: true });
  response.once("close", () => revoked.removeEventListener("abort", end));
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  // For the name, a second server would be made for ::1, without the bounds of the first.
  server.listen(port, host === "localhost" ? "127.0.0.1" : host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw invalidField("--e2b", "a port that is free and may be used", `${host}:${port}`, error);
  }
}
