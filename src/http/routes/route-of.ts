import type { FastifyRequest } from "fastify";

/** The route's pattern, such as `/api/sandbox/{sandbox_id}`, never the requested path; empty: none. */
export function routeOf({ routeOptions }: FastifyRequest): string {
  return (routeOptions.url ?? "").replaceAll(/:(\w+)/g, "{$1}");
}
