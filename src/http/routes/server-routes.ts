import type { FastifyInstance, FastifyRequest, FastifyReply } from "fastify";
import type { Platform } from "../../platform/platform.ts";
import { jsonType, HttpRefusal } from "../http-answer.ts";
import type { RouteContext } from "./route-context.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import { callerOf, type Caller } from "../caller.ts";
import { beginRequestSpan, endRequestSpan } from "../../base/tracer.ts";
import type { Duplex } from "node:stream";

/** One dependency of the server: its name, and a check that fails if it does not answer. */
export interface ReadinessCheck {
  readonly name: string;
  /** Aborted by the signal after some seconds. */
  readonly check: (signal: AbortSignal) => Promise<void>;
}

/** How long a result is cached, as everyone may ask. */
const staleAfterMs = 2_000;
const checkWithinMs = 5_000;

/** `/healthz`: the process answers; `/readyz`: its dependencies answer too, and it accepts new work. */
export function addHealthRoutes(
  app: FastifyInstance,
  { platform, isDraining }: RouteContext,
  checks: readonly ReadinessCheck[],
): void {
  const open = { config: { isOpen: true } };
  app.get("/healthz", open, (_, reply) => reply.type(jsonType).send('{"status":"ok"}'));
  let asked: { readonly atMs: number; readonly answer: Promise<Record<string, string>> } | undefined;
  const ask = async (): Promise<Record<string, string>> =>
    Object.fromEntries(await Promise.all(checks.map(async (check) => [check.name, await stateOf(check)] as const)));
  app.get("/readyz", open, async (_, reply) => {
    const atMs = platform.monotonicMs();
    if (asked === undefined || atMs - asked.atMs > staleAfterMs) asked = { atMs, answer: ask() };
    const parts = await asked.answer;
    const isReady = !isDraining() && Object.values(parts).every((state) => state === "ok");
    const status = isDraining() ? "draining" : isReady ? "ready" : "not_ready";
    return reply
      .code(isReady ? 200 : 503)
      .type(jsonType)
      .send(JSON.stringify({ status, checks: parts }));
  });
}

/** The engine for requests that name none. */
export function engineAnswers({ chooseEngine }: Pick<Platform, "chooseEngine">): ReadinessCheck {
  return { name: "engine", check: async (signal) => void (await chooseEngine(undefined, { signal })) };
}

/** The store, if there is one. */
export function storeAnswers({ store }: Pick<Platform, "store">): readonly ReadinessCheck[] {
  if (store === null) return [];
  const check = async (): Promise<void> => {
    if (!(await store.answers())) throw new Error("The store does not answer.");
  };
  return [{ name: "store", check }];
}

/** `/metrics`: the server's own metrics, in Prometheus's text format, for callers with a token. */
export function addMetricsRoute(app: FastifyInstance, { platform }: RouteContext): void {
  app.get("/metrics", async (_, reply) => {
    const { contentType, text } = await platform.serverMetrics.page();
    return reply.type(contentType).send(text);
  });
}

/** Measures every request from now on, including refused ones. */
export function timeRequests(app: FastifyInstance, { serverMetrics, monotonicMs }: RouteContext["platform"]): void {
  app.addHook("onRequest", async (request, reply) => {
    const startedMs = monotonicMs();
    const { method } = request;
    const route = routeOf(request);
    reply.raw.once("close", () => {
      const durationMs = monotonicMs() - startedMs;
      serverMetrics.httpRequestEnded({ method, route, status: reply.raw.statusCode, durationMs });
    });
  });
}

/** Answers a request that has passed the guard, for its principal. */
export type ServeMcp = (
  request: IncomingMessage,
  response: ServerResponse,
  caller: Pick<Caller, "principal" | "revoked">,
) => Promise<void>;

/** `/mcp`: the request is passed on unchanged, with its body unread. */
export function addMcpRoute(app: FastifyInstance, { assertTakesWork, logger }: RouteContext, serve: ServeMcp): void {
  app.route({
    method: ["GET", "POST", "DELETE"],
    url: "/mcp",
    onRequest: async (request, reply) => {
      if (request.method === "POST") assertTakesWork();
      const caller = callerOf(request);
      const { within = asItIs } = caller;
      reply.hijack();
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value);
      }
      try {
        await within(() => serve(request.raw, reply.raw, caller));
      } catch (error) {
        logger.error({ err: error }, "an MCP request failed");
        reply.raw.destroy();
      }
    },
    handler: () => {
      throw new TypeError("MCP requests are answered before they are read.");
    },
  });
}

const asItIs = <Result>(work: () => Result): Result => work();

/** Refuses unknown paths and methods. Comes after the guard, before all routes. */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const known: { readonly methods: readonly string[]; readonly url: string; readonly path: RegExp }[] = [];
  app.addHook("onRoute", ({ method, url }) => {
    known.push({ methods: [method].flat(), url, path: new RegExp(`^${url.replaceAll(/:\w+/g, "[^/]+")}$`) });
  });
  // Before the body is read, whatever the method.
  app.addHook("onRequest", async (request, reply) => {
    if (!request.is404) return;
    const [path = "/"] = request.url.split("?", 1);
    const exact = known.filter(({ url }) => url === path);
    const fitting = exact.length > 0 ? exact : known.filter((route) => route.path.test(path));
    const offered = fitting.flatMap(({ methods }) => methods);
    if (offered.length === 0) throw notFound(path);
    void reply.header("allow", offered.join(", "));
    throw new HttpRefusal(405, "INVALID_REQUEST", `method: ${request.method} is not offered here.`, {
      suggestion: `Use ${offered.join(" or ")}; /docs describes every route.`,
      context: { field: "method", allowed: offered },
    });
  });
}

/** Polled by machines every few seconds; nobody needs traces of these. */
const untraced: ReadonlySet<string> = new Set(["/metrics"]);

/**
 * Traces requests after they have passed the guard, so that unauthenticated clients can neither flood a collector nor
 * influence sampling. Open routes, such as `/healthz`, are not traced either.
 */
export function traceRequests(app: FastifyInstance, { tracing }: RouteContext["platform"]): void {
  app.addHook("onRequest", async (request, reply) => {
    const { method, url, headers, caller } = request;
    const route = routeOf(request);
    if (!tracing.isOpen || caller === null || untraced.has(route)) return;
    const span = beginRequestSpan(tracing, { method, route, url, headers });
    request.caller = { ...caller, within: (work) => span.run(work) };
    reply.raw.once("close", () => endRequestSpan(span, reply.raw.statusCode));
  });
}

type Gateway = Platform["previewGateway"];

/**
 * Passes requests for previews' host names to them before any part of the API sees them: its routes, guard, headers and
 * cookies (there are none) belong to another origin.
 */
export function servePreviews(app: FastifyInstance, gateway: Gateway): void {
  app.addHook("onRequest", async (request, reply) => void handOver(gateway, request, reply));
  // A page that stays open would keep the server from exiting.
  app.addHook("preClose", async () => gateway.close());
}

/** Whether a request was for a preview, which has then answered it. */
export function handOver(gateway: Gateway, { raw }: FastifyRequest, reply: FastifyReply): boolean {
  if (!gateway.takes(raw)) return false;
  reply.hijack();
  gateway.handle(raw, reply.raw);
  return true;
}

/** The same for WebSockets; call this after all other listeners for upgrades have been added. */
export function divertUpgrades({ server }: FastifyInstance, gateway: Gateway): void {
  const others = server.listeners("upgrade");
  server.removeAllListeners("upgrade");
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (gateway.takes(request)) return gateway.upgrade(request, socket, head);
    for (const listener of others) listener.call(server, request, socket, head);
  });
}

async function stateOf({ check }: ReadinessCheck): Promise<"ok" | "failed"> {
  try {
    await check(AbortSignal.timeout(checkWithinMs));
    return "ok";
  } catch {
    return "failed";
  }
}

/** The route's pattern, such as `/api/sandbox/{sandbox_id}`, never the requested path; empty: none. */
function routeOf({ routeOptions }: FastifyRequest): string {
  return (routeOptions.url ?? "").replaceAll(/:(\w+)/g, "{$1}");
}

function notFound(path: string): HttpRefusal {
  return new HttpRefusal(404, "NOT_FOUND", "There is no such path.", {
    suggestion: "/docs and /openapi.json list all paths.",
    context: { path: path.slice(0, 200) },
  });
}
