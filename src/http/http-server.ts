import type { AddressInfo } from "node:net";
import { fastifyWebsocket } from "@fastify/websocket";
import { fastify, type FastifyInstance } from "fastify";
import { settlesWithin } from "../base/abort.ts";
import { isLoopback } from "../base/http/judge-request.ts";
import { mebibyte } from "../base/bytes.ts";
import { isEnding } from "../calls/running-calls.ts";
import { invalidField } from "../errors/glovebox-error.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";
import type { Platform } from "../platform/platform.ts";
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
import { maxBodyBytes, readJsonBodies } from "./server/json-body.ts";
import { sendError } from "./server/send-answer.ts";

export interface HttpServerOptions extends GuardOptions {
  readonly platform: Platform;
  /** Those that are open to every principal are served, each at its routes. */
  readonly operations: readonly OperationContract[];
  /** Version of Glovebox. */
  readonly version: string;
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

/** Connections of unauthenticated clients must leave descriptors for sandboxes, and end soon. */
const maxConnections = 1024;
/** For a WebSocket: larger than any valid command with its variables. */
const maxMessageBytes = 2 * mebibyte;
const headersWithinMs = 10_000;
const requestWithinMs = 60_000;
const checkConnectionsEachMs = 2_000;
/** How long cancelled work may take to end before its sandboxes are removed by force. */
const lastCallsMs = 4_000;
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
  const app = await createApp(options, runs, () => state.isDraining);
  await app.ready();
  divertUpgrades(app, options.platform.previewGateway);
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw invalidField("--port", "an address and a port that are free and may be used", `${host}:${port}`, error);
  }
  const { address, family, port: chosen } = app.server.address() as AddressInfo;
  options.platform.previewGateway.servedAt({ port: chosen, isLoopback: isLoopback(host) });
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

async function createApp(
  options: HttpServerOptions,
  runs: HttpRuns,
  isDraining: () => boolean,
): Promise<FastifyInstance> {
  const { platform, operations, version, mcp, readiness = [], extraRoutes = [], extraPaths } = options;
  const { logger, previewGateway } = platform;
  const app = fastify({
    bodyLimit: maxBodyBytes,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength },
    requestTimeout: requestWithinMs,
    forceCloseConnections: true,
    http: { noDelay: true, headersTimeout: headersWithinMs, connectionsCheckingInterval: checkConnectionsEachMs },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      if (!handOver(previewGateway, request, reply)) void sendError(reply, error, logger);
    },
    return503OnClosing: false,
  });
  app.server.maxConnections = maxConnections;
  const assertTakesWork = (): void => {
    if (isDraining()) throw isEnding();
  };
  const context: RouteContext = { platform, logger, version, operations, runs, isDraining, assertTakesWork };
  readJsonBodies(app);
  servePreviews(app, previewGateway);
  timeRequests(app, platform);
  const tickets = new Tickets(platform.monotonicMs);
  await app.register(fastifyWebsocket, { options: { maxPayload: maxMessageBytes, perMessageDeflate: false } });
  guardRequests(app, options, (ticket) => tickets.take(ticket));
  traceRequests(app, platform);
  answerUnknownRoutes(app);
  // A response's own headers override these.
  app.addHook("onSend", async (_, reply) => void reply.headers({ ...ofEveryAnswer, ...reply.getHeaders() }));
  app.setErrorHandler((error, _, reply) => sendError(reply, error, logger));
  addHealthRoutes(app, context, [engineAnswers(platform), ...storeAnswers(platform), ...readiness]);
  addOperationRoutes(app, context);
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
