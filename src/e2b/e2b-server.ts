import { once } from "node:events";
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { settlesWithin } from "../base/abort.ts";
import { answerAndClose, ConnectionShares, guardConnections } from "../base/http/connections.ts";
import {
  bearerOf,
  isLoopback,
  judgeRequest,
  headBytes,
  hostCount,
  type GuardRules,
  type JudgedRequest,
} from "../base/http/request-head.ts";
import { beginRequestSpan, endRequestSpan } from "../base/tracer.ts";
import type { BytesInFlight } from "../calls/bytes-in-flight.ts";
import { isEnding } from "../calls/running-calls.ts";
import type { Config } from "../config/config.ts";
import { invalidField } from "../errors/glovebox-error.ts";
import type { Platform } from "../platform/platform.ts";
import { controlRoutes } from "./control-routes.ts";
import {
  findNamed,
  isForSandbox,
  partOf,
  liveTarget,
  readMessage,
  parseMessage,
  runInside,
  type E2bContext,
  type NamedSandbox,
  type RpcCall,
  type RpcMethod,
} from "./e2b-request.ts";
import { PortGates, SandboxHosts, type AskedPort } from "./sandbox-ports.ts";
import { serveFiles } from "./envd/serve-files.ts";
import { ProcessTable } from "./envd/e2b-process.ts";
import { WatchTable } from "./envd/client-watch.ts";
import { sendError, sendNothing, sendJson, handleRoute, type Exchange } from "./exchange.ts";
import { answerOfError, E2bRefusal, notRunning, notServed, ConnectError, toConnectError } from "./refusal.ts";
import { ExecutionBook } from "./interpreter-execution.ts";
import { globalVariables, absoluteInside, type E2bCaller, type SandboxTarget } from "./e2b-sandbox.ts";
import { E2bSandboxes, sandboxMetrics } from "./e2b-sandboxes.ts";
import { mebibyte } from "../base/bytes.ts";
import { serveInterpreter } from "./serve-interpreter.ts";
import { watchMethods, processMethods } from "./envd/rpc-services.ts";
import { lastEnvelope } from "./envd/rpc-stream.ts";
import { z } from "zod";
import { entriesScript, parseEntries, type FileEntry } from "./envd/file-entries.ts";

const path = z
  .string()
  .max(4096)
  .regex(/^[^\0]*$/, "expected no NUL");
const onePath = z.strictObject({ path });
const moveSchema = z.strictObject({ source: path, destination: path });
const listSchema = z.strictObject({ path, depth: z.int().min(0).max(64).optional() });

/** What the scripts end with. */
const exits = { missing: 3, notFolder: 4, exists: 5 } as const;

const makeScript = `
[ -d "$1" ] && exit ${exits.exists}
if [ -e "$1" ] || [ -L "$1" ]; then exit ${exits.notFolder}; fi
mkdir -p -- "$1"`;
const moveScript = `
if [ ! -e "$1" ] && [ ! -L "$1" ]; then exit ${exits.missing}; fi
[ -d "$2" ] && [ ! -L "$2" ] && exit ${exits.exists}
mkdir -p -- "$(dirname -- "$2")" && mv -f -- "$1" "$2"`;
// A root that is a link is followed, links below it are not; the order of names is made afterwards.
const listScript = `
if [ ! -e "$1" ]; then exit ${exits.missing}; fi
[ -d "$1" ] || exit ${exits.notFolder}
find -H "$1" -mindepth 1 -maxdepth "$2" -exec sh -c '${entriesScript.replaceAll("'", `'"'"'`)}' sh {} +`;

/** The methods of E2B's service for files but those that watch folders. */
const filesystemMethods: Readonly<Record<string, RpcMethod>> = {
  Stat: {
    type: "unary",
    handle: async (call, body) => ({ entry: await entryAt(call, pathOf(parseMessage(onePath, body).path)) }),
  },
  ListDir: { type: "unary", handle: list },
  MakeDir: {
    type: "unary",
    handle: async (call, body) => {
      const asked = pathOf(parseMessage(onePath, body).path);
      await run(call, makeScript, [asked], asked);
      return { entry: await entryAt(call, asked) };
    },
  },
  Move: {
    type: "unary",
    handle: async (call, body) => {
      const { source, destination } = parseMessage(moveSchema, body);
      const [from, to] = [pathOf(source), pathOf(destination)];
      await run(call, moveScript, [from, to], from);
      return { entry: await entryAt(call, to) };
    },
  },
  Remove: {
    type: "unary",
    handle: async (call, body) => {
      const asked = pathOf(parseMessage(onePath, body).path);
      await run(call, 'rm -rf -- "$1"', [asked], asked);
      return {};
    },
  },
};

async function list(call: RpcCall, body: unknown): Promise<object> {
  const { path: given, depth = 1 } = parseMessage(listSchema, body);
  const asked = pathOf(given);
  const { stdout } = await run(call, listScript, [asked, String(Math.max(depth, 1))], asked);
  const entries = parseEntries(stdout);
  // Parents before children, and names in order.
  const keyOf = ({ path: name }: FileEntry): string => (typeof name === "string" ? name.replaceAll("/", "\0") : "");
  return { entries: entries.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)) };
}

async function entryAt(call: RpcCall, asked: string): Promise<FileEntry> {
  const { stdout } = await runInside(call, entriesScript, [asked]);
  const [entry] = parseEntries(stdout);
  if (entry === undefined) throw new ConnectError("not_found", `path '${asked}' does not exist`);
  return entry;
}

async function run(call: RpcCall, script: string, args: string[], asked: string): Promise<{ readonly stdout: Buffer }> {
  const answer = await runInside(call, script, args);
  const { exitCode } = answer;
  if (exitCode === exits.missing) throw new ConnectError("not_found", `path '${asked}' does not exist`);
  if (exitCode === exits.notFolder) throw new ConnectError("invalid_argument", `path '${asked}' is not a directory`);
  if (exitCode === exits.exists)
    throw new ConnectError("already_exists", `a directory is there already: ${args.at(-1)}`);
  if (exitCode !== 0) throw new ConnectError("internal", `the files could not be changed (exit code ${exitCode})`);
  return answer;
}

/** @throws ConnectError */
function pathOf(given: string): string {
  if (given === "") throw new ConnectError("invalid_argument", "path: expected a path inside the sandbox, got nothing");
  return absoluteInside(given);
}

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

/** Answers a request to a sandbox that its headers name. @throws E2bRefusal, what the operations throw */
async function serveSandbox(context: E2bContext, exchange: Exchange): Promise<void> {
  const { request, response, path } = exchange;
  const { sandbox, port, part } = findNamed(context, request);
  if (part === null) return context.ports.handle(request, response, askedPort(context, request, { sandbox, port }));
  if (request.method === "GET" && path === "/health") {
    if (!(await context.sandboxes.isAlive(sandbox, exchange.signal))) throw notRunning(sandbox.id);
    return part === "envd" ? sendNothing(response) : sendJson(response, 200, "OK");
  }
  if (part === "interpreter") return serveInterpreter(context, exchange, sandbox);
  if (path === "/files") return serveFiles(context, exchange, sandbox);
  const { "x-access-token": token } = request.headers;
  if (typeof token !== "string" || !context.sandboxes.isToken(sandbox, token)) {
    throw new E2bRefusal(401, "expected the sandbox's token in the header X-Access-Token");
  }
  context.admit(exchange, sandbox.caller);
  const target = await liveTarget(context, exchange, sandbox);
  if (isRpc(path)) return serveRpc({ context, exchange, target });
  if (request.method === "GET" && path === "/envs") return sendJson(response, 200, globalVariables(sandbox));
  if (request.method === "GET" && path === "/metrics") return sendMetrics(context, exchange, target);
  throw notServed(path.slice(0, 200), "docs/clients.md lists what is.");
}

/** A port with the origin by which a browser knows it. */
function askedPort(
  { hosts }: E2bContext,
  { headers: { host = "" } }: IncomingMessage,
  named: Pick<NamedSandbox, "sandbox" | "port">,
): AskedPort {
  const { sandbox, port } = named;
  const { scheme = "http", authority = host.toLowerCase() } = hosts.read(host) ?? {};
  return { sandbox, port, outer: { scheme, authority } };
}

async function sendMetrics({ platform }: E2bContext, { response }: Exchange, target: SandboxTarget): Promise<void> {
  const samples = await sandboxMetrics(platform.call, target.sandbox, { ...target, samples: 1 });
  const last = samples.at(-1);
  if (last === undefined) throw new E2bRefusal(503, "There is no sample of this sandbox yet; ask again in a second.");
  const mebibytes = (bytes: number): number => Math.round(bytes / mebibyte);
  sendJson(response, 200, {
    ts: Math.floor(Date.parse(last.timestamp) / 1000),
    cpu_count: last.cpuCount,
    cpu_used_pct: last.cpuUsedPct,
    mem_total: last.memTotal,
    mem_used: last.memUsed,
    mem_total_mib: mebibytes(last.memTotal),
    mem_used_mib: mebibytes(last.memUsed),
    ...(last.memCache === undefined ? {} : { mem_cache: last.memCache }),
    ...(last.diskUsed === undefined ? {} : { disk_used: last.diskUsed }),
    disk_total: last.diskTotal,
  });
}

const methods: ReadonlyMap<string, RpcMethod> = new Map([
  ...Object.entries(processMethods).map(([name, method]) => [`/process.Process/${name}`, method] as const),
  ...Object.entries({ ...filesystemMethods, ...watchMethods }).map(
    ([name, method]) => [`/filesystem.Filesystem/${name}`, method] as const,
  ),
]);

/** Whether a path is one of the Connect protocol's. */
function isRpc(path: string): boolean {
  return path.startsWith("/process.") || path.startsWith("/filesystem.");
}

/** Answers a call of the Connect protocol with JSON; errors too are answered. */
async function serveRpc(call: RpcCall): Promise<void> {
  const { request, response, path } = call.exchange;
  const method = request.method === "POST" ? methods.get(path) : undefined;
  try {
    if (method === undefined)
      throw new ConnectError("unimplemented", `${path.slice(0, 200)} is not served by Glovebox`);
    assertUser(request.headers.authorization);
    const body = await readMessage(call, method.type);
    if (method.type === "stream") await method.handle(call, body);
    else sendJson(response, 200, await method.handle(call, body));
  } catch (error) {
    const failed = toConnectError(error);
    const close: Record<string, string> = request.complete ? {} : { connection: "close" };
    if (response.headersSent) response.destroy();
    else if (method?.type === "stream") {
      response.writeHead(200, { "content-type": "application/connect+json", ...close }).end(lastEnvelope(failed));
    } else sendJson(response, failed.status, failed.toWire(), close);
  }
}

/** @throws ConnectError for another user than the sandbox's own */
function assertUser(authorization: string | undefined): void {
  const encoded = /^Basic +([A-Za-z0-9+/=]{1,400})$/i.exec(authorization ?? "")?.[1];
  const user = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString().replace(/:.*$/s, "");
  if (user !== "" && user !== "user")
    throw new ConnectError("unauthenticated", `invalid username: '${user.slice(0, 80)}'`);
}
