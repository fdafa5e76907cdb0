import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ConnectionShares } from "../../base/http/connection-shares.ts";
import { headBytes } from "../../base/http/request-head.ts";
import { headersTooLarge, maxHeadBytes } from "../server/head-limit.ts";
import { bearerOf, judgeRequest, type GuardRules } from "../../base/http/judge-request.ts";
import { HttpRefusal } from "../server/http-refusal.ts";
import type { Authenticate, Caller } from "./caller.ts";
import { endWhenRevoked } from "./end-when-revoked.ts";

export interface GuardOptions {
  readonly rules: GuardRules;
  readonly authenticate: Authenticate;
}

/** What the server has for it. */
interface GuardParts {
  readonly connections: ConnectionShares;
  /** The owner of a ticket, which opens one WebSocket; null: nobody. */
  readonly takeTicket: (ticket: string) => Caller | null;
}

/** What a page of an allowed origin may send. */
const forPages = {
  "access-control-allow-methods": "GET, POST, PUT, DELETE, OPTIONS",
  "access-control-allow-headers":
    "authorization, content-type, accept, range, prefer, idempotency-key, last-event-id, traceparent, tracestate, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name",
  "access-control-max-age": "600",
} as const;
/** Response headers that it may read in addition to the default ones. */
const readableByPages =
  "location, retry-after, content-range, accept-ranges, glovebox-run-id, preference-applied, mcp-session-id, www-authenticate";

/**
 * Checks each request before any of its body is read: which page sent it, whose token it has, and whether it is allowed
 * now.
 */
export function guardRequests(app: FastifyInstance, options: GuardOptions & GuardParts): void {
  app.decorateRequest("caller", null);
  app.addHook("onRequest", async (request, reply) => {
    if (headBytes(request.raw) > maxHeadBytes) throw headersTooLarge();
    const refusal = judgeRequest(request.raw, options.rules);
    if (refusal !== null) throw new HttpRefusal(refusal.status, refusal.errorType, refusal.message, refusal);
    if (isAnswered(request, reply) || request.routeOptions.config.isOpen === true) return;
    const caller = ticketCaller(request, options) ?? (await options.authenticate(bearerOf(request.headers)));
    if (caller === null) throw noToken(reply);
    request.caller = caller;
    caller.countRequest?.();
    claim(options.connections, request, reply);
    if (caller.revoked !== undefined) endWhenRevoked(caller.revoked, reply.raw);
  });
}

/** Counts the connection for the caller. @throws CAPACITY, and then it ends after the answer */
function claim(connections: ConnectionShares, { raw, caller }: FastifyRequest, reply: FastifyReply): void {
  try {
    if (caller !== null) connections.claim(raw.socket, caller);
  } catch (error) {
    void reply.header("connection", "close");
    throw error;
  }
}

/** Pages cannot send a token with a WebSocket; a ticket is good for nothing else. */
function ticketCaller({ ws, query }: FastifyRequest, { takeTicket }: GuardParts): Caller | null {
  const { ticket } = query as { readonly ticket?: unknown };
  return ws && typeof ticket === "string" ? takeTicket(ticket) : null;
}

/** The CORS part, for pages of allowed origins; their browsers send a preflight request first, without the token. */
function isAnswered(request: FastifyRequest, reply: FastifyReply): boolean {
  const { origin, "access-control-request-method": asks } = request.headers;
  if (origin === undefined) return false;
  void reply.headers({
    "access-control-allow-origin": origin,
    "access-control-expose-headers": readableByPages,
    vary: "origin",
  });
  if (request.method !== "OPTIONS" || asks === undefined) return false;
  void reply.code(204).headers(forPages).send();
  return true;
}

function noToken(reply: FastifyReply): HttpRefusal {
  void reply.header("www-authenticate", 'Bearer realm="glovebox"');
  return new HttpRefusal(401, "PERMISSION_DENIED", "This server requires a token; none or an unknown one was sent.", {
    suggestion:
      'Send the header "Authorization: Bearer TOKEN" with your API key, or on the server\'s own machine with the token of the file that `glovebox serve` names when it starts.',
  });
}
