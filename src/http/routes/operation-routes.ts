import type { ServerResponse } from "node:http";
import { settlesWithin } from "../../base/abort.ts";
import { kibibyte } from "../../base/bytes.ts";
import { untilWritable } from "../../base/streams/chunks.ts";
import { WireEncoder } from "../../live/wire-encoder.ts";
import {
  takesBody,
  takesInput,
  type OperationContract,
  type RequestOf,
  type Route,
} from "../../operations/contract/operation-contract.ts";
import type { OperationEvent } from "../../operations/contract/wire-values.ts";
import type { WireEvent } from "../../operations/contract/wire-messages.ts";
import {
  textOf,
  answerOfError,
  answerOf,
  sendAnswer,
  untilClosed,
  ofEveryAnswer,
  withinShare,
  type WireAnswer,
} from "../http-answer.ts";
import { answerForm, acceptsBytes, type StreamFormat } from "../answer-form.ts";
import type { FastifyReply, FastifyRequest, FastifyInstance, RouteOptions } from "fastify";
import { toGloveboxError } from "../../errors/glovebox-error.ts";
import { orRevoked, keyEnded, callerOf, type Caller } from "../caller.ts";
import type { RouteContext } from "./route-context.ts";
import { keepBody, assertInputFits, answerWithInput, maxContentBodyBytes } from "../request-body.ts";
import { isOfOwnSandbox, type HttpRun, type RunRequest } from "../http-runs.ts";
import type { Socket } from "node:net";
import type { WebSocket } from "@fastify/websocket";
import type { ErrorType } from "../../errors/catalogue.ts";
import { readLogsContract } from "../../operations/logs-contract.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import { bytesAt, download } from "../byte-routes.ts";
import { assembleRequest, fieldTypes, type RequestParts } from "./read-request.ts";

/** A reader that takes nothing for this long is considered gone, even if its connection is open. */
const stalledAfterMs = 60_000;
/** Maximum bytes buffered for a slow reader; beyond it, events that cannot be delayed are dropped. */
const maxWaitingBytes: number = 256 * kibibyte;
/** How often a quiet stream sends a keep-alive, if its format has one. */
const aliveEachMs = 15_000;

const contentTypes: Readonly<Record<StreamFormat, string>> = {
  "event-stream": "text/event-stream; charset=utf-8",
  ndjson: "application/x-ndjson; charset=utf-8",
};

/** Streams the events of one run to one reader; a slow reader slows the program down. */
class EventStream {
  readonly #response: ServerResponse;
  readonly #format: StreamFormat;
  readonly #encoder = new WireEncoder();
  readonly #alive: NodeJS.Timeout;
  #sandboxId: string | null = null;
  #leftOut = 0;

  /** Sends the headers, including those already set, and the sandbox if it is known. */
  constructor(
    response: ServerResponse,
    format: StreamFormat,
    known: { readonly id: string; readonly name: string | null } | null,
  ) {
    this.#response = response;
    this.#format = format;
    // For proxies that would buffer the events.
    response.writeHead(200, { "content-type": contentTypes[format], "x-accel-buffering": "no" });
    response.flushHeaders();
    this.#alive = setInterval(() => this.#showLife(), aliveEachMs).unref();
    response.once("close", () => clearInterval(this.#alive));
    if (known !== null) void this.send({ type: "sandbox", sandboxId: known.id, name: known.name ?? undefined });
  }

  /** Resolves when the reader can take more; output is never dropped. */
  async send(event: OperationEvent): Promise<void> {
    if (event.type === "sandbox") {
      // It may have been sent before the sandbox existed.
      if (this.#sandboxId === event.sandboxId) return;
      this.#sandboxId = event.sandboxId;
    } else if (event.type !== "output" && this.#response.writableLength > maxWaitingBytes) {
      this.#leftOut += 1;
      return;
    }
    for (const wire of this.#encoder.encode(event)) this.#write(JSON.stringify(wire), wire.event);
    if (event.type === "output") await this.#untilTaken();
  }

  /** The last event. */
  end(answer: WireAnswer): void {
    for (const wire of this.#encoder.flush()) this.#write(JSON.stringify(wire), wire.event);
    if (this.#leftOut > 0) {
      const message = `${this.#leftOut} events were dropped because the reader was too slow.`;
      this.#write(JSON.stringify({ event: "warning", message } satisfies WireEvent), "warning");
    }
    const name = answer.isError ? "error" : "result";
    this.#write(`{"event":"${name}","${name}":${textOf(answer)}}`, name);
    const stalled = setTimeout(() => this.#response.destroy(), stalledAfterMs).unref();
    this.#response.once("close", () => clearTimeout(stalled));
    this.#response.end();
  }

  #write(json: string, name: string): void {
    if (this.#response.destroyed) return;
    this.#response.write(this.#format === "ndjson" ? `${json}\n` : `event: ${name}\ndata: ${json}\n\n`);
  }

  async #untilTaken(): Promise<void> {
    const response = this.#response;
    if (!response.writableNeedDrain) return;
    if (!(await settlesWithin(untilWritable(response), stalledAfterMs))) response.destroy();
  }

  #showLife(): void {
    if (this.#format === "event-stream" && this.#response.writableLength === 0) this.#response.write(": alive\n\n");
  }
}

/** The request is validated inside. */
const refusedWithinMs = 25;

/** Runs operations that may take long or change something, and answers in the form that the client requests. */
async function answerRun(
  context: RouteContext,
  asked: { readonly contract: OperationContract; readonly request: Record<string, unknown> },
  { request, reply }: HttpExchange,
): Promise<FastifyReply> {
  const { "idempotency-key": key } = request.headers;
  const { input } = request;
  const run: RunRequest = {
    ...asked,
    caller: callerOf(request),
    key: typeof key === "string" ? key : undefined,
    streams: input === null ? undefined : { stdin: input.chunks },
  };
  const form = asked.contract.tool?.mayTakeLong === true ? answerForm(request.headers) : "whole";
  if (input !== null) assertInputFits(run, form);
  if (form !== "whole" && form !== "async") return answerEvents(context, run, { format: form, request, reply });
  const begun = context.runs.begin(run);
  keepBody(request, begun.call.ended);
  if (form === "async") return answerLater(reply, begun);
  begun.join(untilClosed(reply.raw));
  void reply.header("glovebox-run-id", begun.call.id);
  request.keepAnswer = () => {
    context.runs.keep(begun);
    return begun.call.id;
  };
  return sendAnswer(reply, await lastAnswer(begun, run));
}

/** The run's answer; CANCELLED if its caller's key was revoked and it does not end at once. */
async function lastAnswer(run: HttpRun, { caller }: RunRequest): Promise<WireAnswer> {
  try {
    return await orRevoked(run.answer(), caller.revoked);
  } catch (error) {
    return answerOfError(toGloveboxError(error));
  }
}

interface HttpExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Where to query it: `/api/sandbox/{id}`. */
function answerLater(reply: FastifyReply, run: HttpRun): FastifyReply {
  run.goOn();
  const { id, sandboxId } = run.call;
  const statusUrl = `/api/sandbox/${id}`;
  void reply.headers({ location: statusUrl, "preference-applied": "respond-async", "glovebox-run-id": id });
  const known = sandboxId ?? (isOfOwnSandbox(run.call) ? id : null);
  return reply.code(202).send({ id, sandbox_id: known, status_url: statusUrl });
}

/** The headers are sent with the first event, so that an immediate refusal can have its own status. */
async function answerEvents(
  { runs, inFlight }: RouteContext,
  asked: RunRequest,
  { format, request, reply }: { readonly format: StreamFormat } & HttpExchange,
): Promise<FastifyReply> {
  const response = reply.raw;
  const held = inFlight.hold(asked.caller.principal, maxWaitingBytes);
  response.once("close", () => held.release());
  let stream: EventStream | undefined;
  const run = runs.begin({ ...asked, onEvent: (event) => opened().send(event) });
  const openStream = (): EventStream => {
    reply.hijack();
    for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...ofEveryAnswer })) {
      if (value !== undefined) response.setHeader(name, value);
    }
    return new EventStream(response, format, isOfOwnSandbox(run.call) ? run.call : null);
  };
  const opened = (): EventStream => (stream ??= openStream());
  keepBody(request, run.call.ended);
  void reply.header("glovebox-run-id", run.call.id);
  run.join(untilClosed(response));
  const isShort = await settlesWithin(run.call.ended, refusedWithinMs);
  if (isShort && stream === undefined) {
    const ended = await run.call.ended;
    if (ended.isError) return sendAnswer(reply, await ended.read());
  }
  const events = opened();
  const share = { held, besideBytes: maxWaitingBytes, id: run.call.id, keep: () => runs.keep(run) };
  events.end(withinShare(await lastAnswer(run, asked), share));
  return reply;
}

/** Maximum entries and characters in flight to a reader: more is read once it has taken them. */
const onTheWay = { entries: 500, characters: 262_144 } as const;
/** Readers send nothing. */
const maxMessageBytes = 1024;
/** A reader that takes nothing for this long is considered gone. */
const patienceMs = 60_000;
/** How often to ping a silent connection. */
const pingMs = 30_000;

/** Codes of WebSocket. */
const closed = { normal: 1000, refused: 1008, tooBig: 1009, failed: 1011, slow: 1013 } as const;

/** By the type of what went wrong; others are refusals. */
const closeCodes: Readonly<Partial<Record<ErrorType, number>>> = { INTERNAL: closed.failed, CAPACITY: closed.slow };

/** Who follows a log. */
interface FollowingReader {
  readonly socket: WebSocket;
  /** The socket below the WebSocket, so that messages sent together go out together. */
  readonly connection: Pick<Socket, "cork" | "uncork">;
  readonly caller: Caller;
}

/**
 * Sends the log of a sandbox from an offset on, one entry per message, and continues as it grows, until it ends or its
 * reader leaves. A slow reader slows down nothing else: one entry counts what has been dropped from memory and store by
 * then.
 */
async function followLogs(
  { platform, inFlight, logger }: Pick<RouteContext, "platform" | "inFlight" | "logger">,
  request: RequestOf<typeof readLogsContract>,
  { socket, connection, caller }: FollowingReader,
): Promise<void> {
  const gone = new AbortController();
  socket.on("close", () => gone.abort());
  socket.on("message", (data) => {
    if ((data as Buffer).length > maxMessageBytes) socket.close(closed.tooBig);
  });
  caller.revoked?.addEventListener("abort", () => socket.close(closed.refused, "CANCELLED: the key was revoked"), {
    once: true,
    signal: gone.signal,
  });
  const ping = setInterval(() => socket.ping(), pingMs);
  gone.signal.addEventListener("abort", () => clearInterval(ping), { once: true });
  // Pongs that a reader asks for and does not take.
  socket.on("ping", () => {
    if (socket.bufferedAmount > 2 * onTheWay.characters) socket.terminate();
  });
  const { principal, within } = caller;
  let { id, offset, tail } = request;
  try {
    // A character has at most four bytes, and few have more than two.
    const held = inFlight.hold(principal, 2 * onTheWay.characters);
    gone.signal.addEventListener("abort", () => held.release(), { once: true });
    while (!gone.signal.aborted) {
      const wanted = { ...request, id, offset, tail, limit: onTheWay.entries, wait_seconds: 0 };
      const page = await platform.call(readLogsContract, wanted, { principal, within, signal: gone.signal });
      if (!(await send({ socket, connection }, page.entries))) return socket.terminate();
      const isNews = page.entries.length > 0 || page.next_offset > (offset ?? 0);
      ({ container_id: id, next_offset: offset } = page);
      tail = undefined;
      if (page.is_over) return socket.close(closed.normal, "the log has ended");
      if (!isNews) await platform.logs.find(id)?.until(offset, gone.signal);
    }
  } catch (error) {
    const { errorType, message } = toGloveboxError(error);
    if (errorType === "INTERNAL") logger.error({ err: error }, "a log could not be followed");
    socket.close(closeCodes[errorType] ?? closed.refused, message.slice(0, 100));
  }
}

/** False if the reader does not take them. */
async function send(
  { socket, connection }: Pick<FollowingReader, "socket" | "connection">,
  entries: readonly unknown[],
): Promise<boolean> {
  let characters = 0;
  connection.cork();
  try {
    for (const [index, entry] of entries.entries()) {
      const text = JSON.stringify(entry);
      characters += text.length;
      const isLast = index === entries.length - 1;
      if (!isLast && characters < onTheWay.characters) {
        socket.send(text);
        continue;
      }
      characters = 0;
      const { promise: taken, resolve } = Promise.withResolvers<void>();
      // Also called when the connection has ended.
      socket.send(text, () => resolve());
      connection.uncork();
      if (!(await settlesWithin(taken, patienceMs))) return false;
      connection.cork();
    }
  } finally {
    connection.uncork();
  }
  return true;
}

type LogsRequest = RequestOf<typeof readLogsContract>;

/** The routes of all operations that are open to every principal. */
export function addOperationRoutes(app: FastifyInstance, context: RouteContext): void {
  for (const contract of context.operations) {
    if (contract.audience === "everyone") for (const route of contract.routes) addRoute(app, context, contract, route);
  }
}

function addRoute(app: FastifyInstance, context: RouteContext, contract: OperationContract, route: Route): void {
  const { method, path } = route;
  const form = { takesBody: takesBody(route), types: fieldTypes(contract) };
  const read = (request: FastifyRequest): Record<string, unknown> =>
    parseRequest(contract, assembleRequest(partsOf(request), form));
  const answer = method === "POST" ? answerRun : answerCall;
  const asBytes = bytesAt(context, route);
  app.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ":$1"),
    ...(contract.carriesContent === true ? { bodyLimit: maxContentBodyBytes } : {}),
    config: { takesInput: method === "POST" && takesInput(contract) },
    handler: (request, reply) =>
      asBytes !== undefined && acceptsBytes(request.headers)
        ? download(context, asBytes, { request, reply })
        : answerWithInput({ request, reply }, async () =>
            answer(context, { contract, request: read(request) }, { request, reply }),
          ),
    ...(contract.name === readLogsContract.name ? followed(context, read) : {}),
  });
}

/** The same route as a WebSocket, which stays open as the log grows; errors are answered before it opens. */
function followed(
  context: RouteContext,
  read: (request: FastifyRequest) => Record<string, unknown>,
): Pick<RouteOptions, "preValidation" | "wsHandler"> {
  const readFollowed = (request: FastifyRequest): LogsRequest => {
    const { ticket: _, ...query } = request.query as Record<string, unknown>;
    const { params, body } = request;
    return read({ params, body, query } as FastifyRequest) as LogsRequest;
  };
  return {
    preValidation: async (request) => {
      if (!request.ws) return;
      const { principal, within } = callerOf(request);
      const first = { ...readFollowed(request), limit: 1, wait_seconds: 0 };
      await context.platform.call(readLogsContract, first, { principal, within });
    },
    wsHandler: (socket, request) =>
      followLogs(context, readFollowed(request), {
        socket,
        connection: request.raw.socket,
        caller: callerOf(request),
      }),
  };
}

/** Runs operations that only read or can be repeated: they end when their client disconnects. */
async function answerCall(
  { platform, assertTakesWork }: RouteContext,
  { contract, request }: { readonly contract: OperationContract; readonly request: Record<string, unknown> },
  http: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  if (http.request.method === "PUT" || http.request.method === "PATCH") assertTakesWork();
  const caller = callerOf(http.request);
  const signal = AbortSignal.any([
    untilClosed(http.reply.raw),
    ...(caller.revoked === undefined ? [] : [caller.revoked]),
  ]);
  const answer = await orRevoked(platform.call(contract, request, { ...caller, signal }), caller.revoked);
  // A wait that was cut short is no answer.
  if (caller.revoked?.aborted === true) throw keyEnded();
  return sendAnswer(http.reply, answerOf(answer));
}

function partsOf({ params, query, body }: FastifyRequest): RequestParts {
  return { path: params as RequestParts["path"], query: query as RequestParts["query"], body };
}
