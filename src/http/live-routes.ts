import type { WebSocket } from "@fastify/websocket";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { toGloveboxError } from "../errors/glovebox-error.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";
import { parseRequest } from "../operations/contract/parse-request.ts";
import { keyEnded, callerOf } from "./caller.ts";
import { assembleRequest } from "./routes/read-request.ts";
import type { RouteContext } from "./routes/route-context.ts";
import { withinShare, HttpRefusal, answerOfError, textOf } from "./http-answer.ts";
import { LiveConnection, liveBytes } from "../live/live-connection.ts";

/** Codes of WebSocket. */
const closed = { refused: 1008 } as const;

/** A WebSocket for each operation that has a channel (`wire-messages.ts`). */
export function addLiveRoutes(app: FastifyInstance, context: RouteContext): void {
  for (const contract of context.operations) {
    if (contract.audience !== "everyone" || contract.channel === undefined) continue;
    app.route({
      method: "GET",
      url: contract.channel.replaceAll(/\{(\w+)\}/g, ":$1"),
      preValidation: async ({ ws }) => {
        if (!ws) throw noWebSocket();
        context.assertTakesWork();
      },
      handler: () => Promise.reject(noWebSocket()),
      wsHandler: (socket, request) => serveLiveCall(context, contract, { socket, request }),
    });
  }
}

/** One call, from the client's first message to its end; whatever ends the connection ends the call and what it started. */
async function serveLiveCall(
  { runs, inFlight, logger }: RouteContext,
  contract: OperationContract,
  { socket, request }: { readonly socket: WebSocket; readonly request: FastifyRequest },
): Promise<void> {
  const caller = callerOf(request);
  const connection = new LiveConnection(socket);
  const over = new AbortController();
  const revoke = (): void => connection.end(answerOfError(keyEnded()), closed.refused);
  caller.revoked?.addEventListener("abort", revoke, { once: true, signal: over.signal });
  if (caller.revoked?.aborted === true) revoke();
  try {
    const held = inFlight.hold(caller.principal, liveBytes);
    socket.once("close", () => held.release());
    const start = await connection.started();
    if (start === null) return connection.close(closed.refused, "expected start as the first message");
    const wanted = parseRequest(contract, requestOf(start.request, request));
    const { streams, tell: onEvent } = connection;
    const run = runs.begin({ contract, request: wanted, caller, key: undefined, streams, onEvent });
    run.join(connection.gone);
    const answer = await run.answer();
    const share = { held, besideBytes: liveBytes, id: run.call.id, keep: () => runs.keep(run) };
    const last = withinShare(answer, share);
    connection.end({ body: textOf(last), isError: last.isError });
  } catch (error) {
    const known = toGloveboxError(error);
    if (known.errorType === "INTERNAL") logger.error({ err: error }, "a live call failed");
    connection.end(answerOfError(known));
  } finally {
    over.abort();
  }
}

/** Combines the path with the first message; apart from a ticket, the query is empty. */
function requestOf(body: unknown, { params, query }: FastifyRequest): Record<string, unknown> {
  const { ticket: _, ...stray } = query as Record<string, string>;
  const path = params as Record<string, string>;
  return assembleRequest({ path, query: stray, body }, { takesBody: true, types: new Map() });
}

function noWebSocket(): HttpRefusal {
  return new HttpRefusal(426, "INVALID_REQUEST", "This path is a WebSocket.", {
    suggestion: "Open a WebSocket, or use one of the plain requests in /docs.",
  });
}
