import { z } from "zod";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import type { OperationCall } from "../operations/contract/operation-call.ts";
import { inputType } from "../operations/contract/input-body.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";
import type { Caller } from "../library/objects/calls.ts";
import type { HttpCallerOptions } from "./connect-options.ts";
import { pause } from "../library/objects/pause.ts";
import { brokenConnection } from "./network-failure.ts";
import { ownSandboxesOperation } from "./own-sandboxes.ts";
import { readAnswer, readBody } from "./read-answer.ts";
import { bytesRequest, readContent } from "./send-bytes.ts";
import { checkedResponse } from "./wire-answer.ts";
import { followedByStdin } from "./follow-with-stdin.ts";
import { sendPieces } from "./send-pieces.ts";
import { liveCall } from "./live/live-call.ts";
import { withGivingUp } from "./end-run.ts";
import { pathOfFields, pathSegment, requestOfRoute, type RouteRequest } from "./request-of-route.ts";

const ticketSchema = z.object({ ticket: z.string() });

const json = "application/json";
/** A stream of events sends keep-alives while the program is silent, so that no proxy takes it for dead. */
const events = "text/event-stream, application/json;q=0.5";

/** If a server asks for a longer delay than this, it is retried sooner. */
const maxPauseSeconds = 60;

/** Operations of a server. @throws INVALID_REQUEST for an invalid URL */
export function openHttpCaller({ url, key, signal, maxRetries = 0 }: HttpCallerOptions): Caller {
  const base = readUrl(url);
  const closing = new AbortController();
  const headers: Readonly<Record<string, string>> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const ask = async <T>(
    { method, path, body }: RouteRequest,
    { accept, signal: given, input }: Asking,
    read: (response: Response) => Promise<T>,
  ): Promise<T> => {
    const facts = { accept, ...(body === undefined ? {} : { "content-type": input === undefined ? json : inputType }) };
    return reach(path, { method, ...(body === undefined ? {} : { body }), signal: given, input }, facts, read);
  };
  const reach = async <T>(
    path: string,
    { input, ...init }: RequestInit & Pick<Asking, "input" | "signal">,
    facts: Readonly<Record<string, string>>,
    read: (response: Response) => Promise<T>,
  ): Promise<T> => {
    const sending = input === undefined ? null : sendPieces(input, init.signal);
    try {
      const body = sending === null ? {} : ({ body: await sending.body, duplex: "half" } as const);
      // The key is for this server only.
      const sent = { ...init, ...body, redirect: "error", headers: { ...headers, ...facts } } as const;
      return await read(await fetch(`${base}${path}`, sent));
    } catch (error) {
      if (init.signal.aborted)
        throw new GloveboxError("CANCELLED", "The call was cancelled.", { cause: init.signal.reason });
      const failed = sending?.failure() ?? null;
      if (failed !== null) throw failed.error;
      throw error instanceof GloveboxError ? error : brokenConnection(base, error);
    } finally {
      sending?.end();
    }
  };
  const send: Send = async (contract, request, call) => {
    const giveUp = AbortSignal.any([call.signal, signal, closing.signal].filter((each) => each !== undefined));
    const special = ownSandboxesOperation(contract);
    if (special !== null) return special(request, (route) => ask(route, { accept: json, signal: giveUp }, readDated));
    if (contract.channel !== undefined) return live(contract, contract.channel, request, { ...call, signal: giveUp });
    if (contract.bytes !== undefined) {
      const { method, path, headers: facts, content } = bytesRequest(contract, request, call);
      return reach(path, { method, signal: giveUp, input: content }, facts, async (response) =>
        checkedResponse(
          contract,
          content === undefined ? await readContent(response, request, call) : await readBody(response),
        ),
      );
    }
    const route = requestOfRoute(contract, request);
    const input = call.stdin === undefined ? undefined : followedByStdin(contract, route.body ?? "{}", call.stdin);
    if (contract.tool?.mayTakeLong !== true)
      return ask(route, { accept: json, signal: giveUp, input }, (response) => readAnswer(response, contract, call));
    return withGivingUp(giveUp, {
      run: (hangUp, onBegun) =>
        ask(route, { accept: events, signal: hangUp, input }, (response) => {
          onBegun(response.headers.get("glovebox-run-id"));
          return readAnswer(response, contract, call);
        }),
      end: (id, hangUp) => ask(endOfRun(id), { accept: json, signal: hangUp }, readBody),
    });
  };
  const live = async (
    contract: OperationContract,
    channel: string,
    request: object,
    call: OperationCall & { readonly signal: AbortSignal },
  ): Promise<unknown> => {
    const { path, rest } = pathOfFields(channel, new Map(Object.entries(request)));
    // Browsers cannot send the key with a WebSocket.
    const asked = await ask({ method: "POST", path: "/api/tickets" }, { accept: json, signal: call.signal }, readBody);
    const { ticket } = ticketSchema.parse(asked);
    const url = `${base.replace(/^http/, "ws")}${path}?ticket=${encodeURIComponent(ticket)}`;
    return liveCall(new WebSocket(url), contract, Object.fromEntries(rest), call);
  };
  const inFlight = new Set<Promise<unknown>>();
  const sendRetried = withRetries(send, maxRetries);
  return {
    call: (async (contract, request, call) => {
      const answer = sendRetried(contract, request, call);
      inFlight.add(answer);
      return answer.finally(() => inFlight.delete(answer));
    }) as Caller["call"],
    // A server knows its own principals by their keys.
    principal: "remote",
    close: async () => {
      closing.abort();
      await Promise.allSettled(inFlight);
    },
  };
}

interface Asking {
  readonly accept: string;
  readonly signal: AbortSignal;
  /** The whole body as it comes, instead of the request's. */
  readonly input?: AsyncIterable<Uint8Array> | undefined;
}

function endOfRun(id: string): RouteRequest {
  return { method: "DELETE", path: `/api/sandbox/${pathSegment("id", id)}?forget=false` };
}

type Send = (contract: OperationContract, request: object, call: OperationCall) => Promise<unknown>;

/** Retries calls that the server has no capacity for, after the delay that it asks for; input that was sent cannot come again. */
function withRetries(send: Send, maxRetries: number): Send {
  return async (contract, request, call) => {
    for (let left = maxRetries; ; left -= 1) {
      try {
        return await send(contract, request, call);
      } catch (error) {
        if (
          left <= 0 ||
          call.stdin !== undefined ||
          !(error instanceof GloveboxError) ||
          error.errorType !== "CAPACITY"
        )
          throw error;
        const { retry_after_seconds: seconds = 1 } = error.context;
        await pause(Math.min(Math.max(Number(seconds) || 1, 0.1), maxPauseSeconds) * 1000, call.signal);
      }
    }
  };
}

async function readDated(response: Response): Promise<{ readonly body: unknown; readonly dateMs: number }> {
  const dateMs = Date.parse(response.headers.get("date") ?? "");
  return { body: await readBody(response), dateMs: Number.isNaN(dateMs) ? 0 : dateMs };
}

/** Without a trailing slash. */
function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw invalidField("url", "the URL of a server, such as http://127.0.0.1:8420", text);
  }
  if (url.username !== "" || url.password !== "") throw invalidField("url", "no password; use `key` instead", "one");
  if (url.search !== "" || url.hash !== "") throw invalidField("url", "neither ? nor #", url.search + url.hash);
  return url.href.replace(/(?<!\/)\/+$/, "");
}
