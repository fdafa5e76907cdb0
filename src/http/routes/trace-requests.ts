import type { FastifyInstance } from "fastify";
import { beginRequestSpan, endRequestSpan } from "../../base/http/request-span.ts";
import type { RouteContext } from "./route-context.ts";
import { routeOf } from "./route-of.ts";

/** Asked for every few seconds by machines; nobody looks for these. */
const untraced: ReadonlySet<string> = new Set(["/metrics"]);

/**
 * Traces requests once the guard has let them pass: strangers can neither fill a collector nor choose what is sampled.
 * What is open to everyone, such as `/healthz`, is not traced either.
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
