import type { AddressInfo } from "node:net";
import { fastifyWebsocket } from "@fastify/websocket";
import { fastify, type FastifyInstance } from "fastify";
import { settlesWithin } from "../base/abort.ts";
import { ConnectionShares } from "../base/http/connection-shares.ts";
import { guardConnections } from "../base/http/guard-connections.ts";
import { isLoopback } from "../base/http/judge-request.ts";
import { kibibyte, mebibyte } from "../base/bytes.ts";
import type { BytesInFlight } from "../calls/bytes-in-flight.ts";
import { isEnding } from "../calls/running-calls.ts";
import { invalidField } from "../errors/glovebox-error.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";
import type { Platform } from "../platform/platform.ts";
import { addByteRoutes } from "./bytes/byte-routes.ts";
import { addConsoleRoutes } from "./console/console-routes.ts";
import { addProofRoute } from "./console/proof-route.ts";
import { guardRequests, type GuardOptions } from "./auth/guard-requests.ts";
import type { ApiPaths } from "./openapi/document.ts";
import { divertUpgrades, handOver, servePreviews } from "./preview/serve-previews.ts";
import { addDocumentRoutes } from "./routes/document-routes.ts";
import { addHealthRoutes, engineAnswers, storeAnswers, type ReadinessCheck } from "./routes/health-routes.ts";
import { addMcpRoute, type ServeMcp } from "./routes/mcp-route.ts";
import { addMetricsRoute, timeRequests } from "./routes/metrics-route.ts";
import { addOperationRoutes } from "./routes/operation-routes.ts";
import type { AddRoutes, RouteContext } from "./routes/route-context.ts";
import { traceRequests } from "./routes/trace-requests.ts";
import { addSandboxRoutes } from "./routes/sandbox-routes.ts";
import { answerUnknownRoutes } from "./routes/unknown-routes.ts";
import { addLiveRoutes } from "./live/live-routes.ts";
import { addTicketRoute, ticketPaths } from "./logs/log-routes.ts";
import { Tickets } from "./logs/tickets.ts";
import { HttpRuns } from "./runs/http-runs.ts";
import { ofEveryAnswer } from "./server/answer-headers.ts";
import { answerBrokenRequest } from "./server/broken-request.ts";
import { maxParsedBytes } from "./server/head-limit.ts";
import { holdBytes } from "./server/hold-bytes.ts";
import { maxBodyBytes, readJsonBodies } from "./server/json-body.ts";
import { sendError } from "./server/send-answer.ts";

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
