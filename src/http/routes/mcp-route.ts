import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import { callerOf, type Caller } from "../caller.ts";
import type { RouteContext } from "./route-context.ts";

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
