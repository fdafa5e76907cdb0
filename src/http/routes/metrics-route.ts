import type { FastifyInstance } from "fastify";
import type { RouteContext } from "./route-context.ts";
import { routeOf } from "./route-of.ts";

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
