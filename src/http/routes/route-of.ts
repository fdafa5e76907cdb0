import type { FastifyRequest } from "fastify";

/** The route as it is written in the table, such as `/api/sandbox/{sandbox_id}`, never the path that was asked for; empty: none. */
export function routeOf({ routeOptions }: FastifyRequest): string {
  return (routeOptions.url ?? "").replaceAll(/:(\w+)/g, "{$1}");
}
