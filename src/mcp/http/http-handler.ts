import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { toWebRequest } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { endWhenRevoked } from "./end-when-revoked.ts";
import { HttpSessions } from "./http-sessions.ts";
import type { McpDoor } from "../mcp-door.ts";
import type { HeldBytes } from "../../calls/bytes-in-flight.ts";
import { LoopTurns } from "../../calls/loop-turns.ts";
import { toGloveboxError } from "../../errors/glovebox-error.ts";
import { noRoom, readMessage } from "./read-message.ts";
import { failure } from "../parse-json-rpc.ts";
import { notCounted, sendResponse } from "./send-response.ts";
import { refuseTaskSubscription } from "../tasks/task-subscription.ts";

/** The adapter's view of Node's request: a server's always has a method and a URL. */
type NodeRequest = IncomingMessage & { readonly method: string; readonly url: string };

/** Who sends a request; `revoked` aborts when their key ends, and with it everything they have open. */
export interface McpCaller {
  readonly principal: string;
  readonly revoked?: AbortSignal | undefined;
}

/** Streamable HTTP for one path of a server, after its guard. */
export interface McpHttpHandler {
  /** Everything that the request creates belongs to the principal. */
  handle(request: IncomingMessage, response: ServerResponse, caller: McpCaller): Promise<void>;
  /** Ends the protocol sessions and the streams. */
  close(): Promise<void>;
}

/**
 * Serves both revisions: 2026-07-28 without state, and 2025-11-25 in sessions, or without a session for single
 * requests.
 */
export function createHttpHandler(door: McpDoor): McpHttpHandler {
  const { inFlight } = door;
  const turns = new LoopTurns();
  const { logger, monotonicMs } = door.platform;
  const onerror = (error: Error): void => logger.debug({ err: error }, "mcp");
  const stateless = createMcpHandler(({ authInfo }) => door.createServer(principalOf(authInfo)), { onerror });
  const sessions = new HttpSessions({
    createServer: (principal, connection) => door.createServer(principal, connection),
    onEnd: (principal, connection) => void door.endConnection(principal, connection),
    monotonicMs,
  });
  const fetch = async (request: Request, principal: string, body: unknown): Promise<Response> => {
    const sessionId = request.headers.get("mcp-session-id");
    if (sessionId !== null) return sessions.handle(sessionId, principal, { request, body });
    const refused = refuseTaskSubscription(body);
    if (refused !== null) return Response.json(refused, { status: 400 });
    const beginsSession = isInitializeRequest(body) && (await isLegacyRequest(request, body));
    return beginsSession
      ? sessions.open(principal, request, body)
      : stateless.fetch(request, { authInfo: { token: "", clientId: principal, scopes: [] }, parsedBody: body });
  };
  return {
    handle: async (request, response, { principal, revoked }) => {
      let held: HeldBytes;
      try {
        held = inFlight.hold(principal);
      } catch (error) {
        return sendResponse(noRoom(toGloveboxError(error)).refused, response, notCounted);
      }
      response.once("close", () => held.release());
      const posted = request.method === "POST" ? await readMessage(request, held) : { value: undefined };
      // The client left before it had sent all of it.
      if (posted === null) return;
      if (revoked !== undefined) endWhenRevoked(revoked, "value" in posted ? posted.value : null, response);
      // From here on the arguments of a call count until it has ended.
      held.set(0);
      const signal = untilClosed(response);
      // A server for a message takes its time to make: those of others come between two of one principal.
      await turns.take(principal);
      try {
        const answer =
          "refused" in posted
            ? posted.refused
            : await fetch(await toWebRequest(withoutBody(request), undefined, { signal }), principal, posted.value);
        await sendResponse(answer, response, held);
      } catch (error) {
        onerror(error as Error);
        const { failure: body } = failure(null, ProtocolErrorCode.InternalError, "Internal error.");
        await sendResponse(Response.json(body, { status: 500 }), response, held);
      }
    },
    close: async () => {
      await sessions.close();
      await stateless.close();
    },
  };
}

/** Aborts when the client leaves before it has its answer. */
function untilClosed(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}

/** The request for the adapter, which would read and copy the body once more: it has been read. */
function withoutBody({ method = "", url = "", headers }: IncomingMessage): NodeRequest {
  const { "content-length": _, ...others } = headers;
  return Object.assign(Readable.from([]), { method, url, headers: others }) as unknown as NodeRequest;
}

/** Each request is passed on with it. */
function principalOf(authInfo: { readonly clientId: string } | undefined): string {
  if (authInfo === undefined) throw new TypeError("The request has no principal.");
  return authInfo.clientId;
}
