import type { FastifyInstance } from "fastify";
import { beginRequestSpan, endRequestSpan } from "../../base/tracer.ts";
import type { RouteContext } from "./route-context.ts";
import { routeOf } from "./route-of.ts";

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
