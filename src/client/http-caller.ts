import { z } from "zod";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import {
  inputType,
  takesInput,
  type OperationCall,
  type OperationContract,
  type RequestOf,
  type ResponseOf,
} from "../operations/contract/operation-contract.ts";
import type { Caller } from "../library/objects/calls.ts";
import type { HttpCallerOptions } from "./connect-options.ts";
import { pause } from "../library/objects/pause.ts";
import {
  brokenConnection,
  strangeAnswer,
  cutAnswer,
  checkedResponse,
  errorOfWire,
  eventOf,
  pathOfFields,
  pathSegment,
  requestOfRoute,
  unsupported,
  type RouteRequest,
} from "./wire-call.ts";
import { liveCall } from "./live-call.ts";
import {
  ownSandboxesSchema,
  removedSandboxSchema,
  listSandboxesContract,
  removeSandboxesContract,
} from "../operations/sandboxes-contract.ts";
import { wireErrorSchema, wireEventSchema, type WireEvent } from "../operations/contract/wire-messages.ts";

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

/** How long the server may take to end a run and answer before the connection is closed. */
const endWithinMs = 10_000;

/** One run on a server. */
interface RunOnServer<Answer> {
  /**
   * Asks for it and reads its answer. `onBegun` receives the run's id, once it has one; null: the server does not say.
   * The signal ends the connection.
   */
  readonly run: (signal: AbortSignal, onBegun: (id: string | null) => void) => Promise<Answer>;
  /** Asks the server to end it, and to keep its result. */
  readonly end: (id: string, signal: AbortSignal) => Promise<unknown>;
}

/**
 * The answer of a run. If its caller gives up, the server ends the run and its answer is still read: as in one's own
 * process, a program that was cancelled is a result, with what it had written. Only if the answer does not come within
 * 10 s does the connection end.
 */
export async function withGivingUp<Answer>(giveUp: AbortSignal, { run, end }: RunOnServer<Answer>): Promise<Answer> {
  const connection = new AbortController();
  const hangUp = (): void => connection.abort(giveUp.reason);
  let late: ReturnType<typeof setTimeout> | undefined;
  let begun: string | null | undefined;
  const endIt = (): void => {
    late ??= setTimeout(hangUp, endWithinMs);
    if (begun === null) hangUp();
    else if (begun !== undefined) end(begun, connection.signal).catch(hangUp);
  };
  giveUp.addEventListener("abort", endIt, { once: true });
  if (giveUp.aborted) hangUp();
  try {
    return await run(connection.signal, (id) => {
      begun = id;
      if (giveUp.aborted) endIt();
    });
  } finally {
    giveUp.removeEventListener("abort", endIt);
    clearTimeout(late);
  }
}

/**
 * A request's body with the standard input that follows it, read only as far as the server takes it.
 * @throws UNSUPPORTED for an operation without standard input
 */
function followedByStdin(
  contract: OperationContract,
  body: string,
  stdin: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  if (takesInput(contract)) return inTurn(new TextEncoder().encode(`${body}\n`), stdin);
  throw new GloveboxError("UNSUPPORTED", `To a server ${contract.name} takes no standard input from a client.`, {
    suggestion: "Send it as a file, or run without a server.",
  });
}

async function* inTurn(
  line: Uint8Array,
  stdin: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield line;
  yield* stdin;
}

/** One request to a server; resolves to the body of a successful response, and the server's clock. */
type Ask = (request: RouteRequest) => Promise<{ readonly body: unknown; readonly dateMs: number }>;

/**
 * The routes by which a server does operations on this machine's sandboxes, limited to those of the key; null: the
 * operation has none.
 */
function ownSandboxesOperation(contract: OperationContract): ((request: object, ask: Ask) => Promise<unknown>) | null {
  if (contract === listSandboxesContract) return list;
  if (contract === removeSandboxesContract) return (request, ask) => remove(request as RemoveRequest, ask);
  return null;
}

type ListRequest = RequestOf<typeof listSandboxesContract>;
type RemoveRequest = RequestOf<typeof removeSandboxesContract>;

async function list({ engine }: ListRequest, ask: Ask): Promise<ResponseOf<typeof listSandboxesContract>> {
  const { body, dateMs } = await ask({ method: "GET", path: "/api/sandbox" });
  const { sandboxes } = checked(ownSandboxesSchema, body);
  const rows = sandboxes.flatMap(({ sandbox_id: id, engine: own, kind, elapsed_ms: elapsedMs, name, work, image }) => {
    // One that is still queued has no sandbox yet.
    if (id === null || own === null || (engine !== undefined && own !== engine)) return [];
    const createdAt = new Date(dateMs - elapsedMs).toISOString();
    const alive = { running: true, owner: "living" } as const;
    const about = { kind: kind ?? "", name, work, image };
    return [{ sandbox_id: id, engine: own, ...about, principal: "", created_at: createdAt, ...alive }];
  });
  return { sandboxes: [...new Map(rows.map((row) => [row.sandbox_id, row])).values()] };
}

async function remove({ ids }: RemoveRequest, ask: Ask): Promise<ResponseOf<typeof removeSandboxesContract>> {
  const removed: string[] = [];
  for (const id of ids) {
    const { body } = await ask({ method: "DELETE", path: `/api/sandbox/${pathSegment("id", id)}` });
    removed.push(checked(removedSandboxSchema, body).id);
  }
  return { removed };
}

function checked<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw strangeAnswer("its sandboxes have another form", parsed.error);
  return parsed.data;
}

/** A request whose body or answer is content as it is. */
interface BytesRequest {
  readonly method: "GET" | "PUT";
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The content of an upload, sent as it comes. */
  readonly content?: AsyncIterable<Uint8Array>;
}

const bytesType = "application/octet-stream";

/** Where to send a request of an operation on content. @throws UNSUPPORTED when no path fits, INVALID_REQUEST for no content */
function bytesRequest(contract: OperationContract, request: object, { stdin }: OperationCall): BytesRequest {
  const { direction, paths = [] } = contract.bytes ?? {};
  const fields = new Map(Object.entries(request).filter(([, value]) => value !== undefined));
  const fitting = paths.find((path) => [...path.matchAll(/\{(\w+)\}/g)].every(([, field = ""]) => fields.has(field)));
  if (fitting === undefined) throw unsupported(contract.name);
  const { path, rest } = pathOfFields(fitting, fields);
  if (direction === "up") {
    if (stdin === undefined) throw invalidField("input", "the content of the file", "nothing");
    return { method: "PUT", path, headers: { "content-type": bytesType }, content: stdin };
  }
  const query = new URLSearchParams([...rest].map(([field, value]): [string, string] => [field, String(value)]));
  return {
    method: "GET",
    path: query.size === 0 ? path : `${path}?${query.toString()}`,
    headers: { accept: bytesType },
  };
}

/** The content of an answer goes to the caller as fast as it takes it. @throws the server's own error */
async function readContent(
  response: Response,
  request: object,
  { onContent, onEvent }: Pick<OperationCall, "onContent" | "onEvent">,
): Promise<unknown> {
  if (!response.ok) return readBody(response);
  const length = response.headers.get("content-length");
  onContent?.({ sizeBytes: null, offset: 0, length: length === null ? null : Number(length) });
  let sent = 0;
  const reader = response.body?.getReader();
  try {
    for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
      const bytes = next.value as Uint8Array;
      sent += bytes.length;
      await onEvent?.({ type: "output", stream: "stdout", bytes });
    }
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
  const { offset: _, limit: __, last: ___, ...place } = request as Record<string, unknown>;
  return { ...place, sent_bytes: sent };
}

/** A body that is sent as it comes. */
export interface SentPieces {
  readonly body: ReadableStream<Uint8Array> | Promise<Blob>;
  /** What its source threw; null: it has not failed. */
  readonly failure: () => { readonly error: unknown } | null;
  /** The call is over: nothing more is read. `fetch` itself would read on what it no longer sends, without end. */
  readonly end: () => void;
}

/** Read only as far as the connection takes it; by a browser as a whole, because its `fetch` sends no streams over HTTP/1.1. */
export function sendPieces(content: AsyncIterable<Uint8Array>, signal: AbortSignal): SentPieces {
  const pieces = content[Symbol.asyncIterator]();
  const over = Promise.withResolvers<"over">();
  let isOver = false;
  let failed: { readonly error: unknown } | null = null;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    over.resolve("over");
    // A source that still waits for its own input is not waited for.
    Promise.resolve(pieces.return?.()).catch(() => undefined);
  };
  /** Null: there is no more. @throws what the source throws, and when the call is over: what was sent is not the whole */
  const next = async (): Promise<Uint8Array | null> => {
    const taken = await Promise.race([over.promise, read()]);
    if (taken === "over") throw new Error("The call is over before its input.");
    return taken.done === true ? null : taken.value;
  };
  const read = async (): Promise<IteratorResult<Uint8Array, unknown>> => {
    try {
      return await pieces.next();
    } catch (error) {
      failed = { error };
      throw error;
    }
  };
  const failure = (): { readonly error: unknown } | null => failed;
  if ("document" in globalThis || "importScripts" in globalThis) {
    signal.addEventListener("abort", end, { once: true });
    return { body: gather(next), failure, end };
  }
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const piece = await next();
    if (piece === null) controller.close();
    else controller.enqueue(piece);
  };
  return { body: new ReadableStream({ pull, cancel: end }, { highWaterMark: 0 }), failure, end };
}

async function gather(next: () => Promise<Uint8Array | null>): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let piece = await next(); piece !== null; piece = await next()) pieces.push(new Uint8Array(piece));
  return new Blob(pieces);
}

/**
 * The response of an operation, checked against its schema; its events go to the caller meanwhile, and a slow caller
 * slows the server down. @throws GloveboxError: the server's own, or NETWORK_ERROR for an answer that is cut off or
 * malformed
 */
async function readAnswer(
  response: Response,
  contract: OperationContract,
  { onEvent }: Pick<OperationCall, "onEvent">,
): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "";
  if (response.ok && type.startsWith("text/event-stream")) {
    for await (const line of readLines(response)) {
      const event = line.startsWith("data: ") ? readEvent(line.slice("data: ".length)) : null;
      if (event === null) continue;
      if (event.event === "result") return checkedResponse(contract, event.result);
      if (event.event === "error") throw errorOf(event.error, response);
      await onEvent?.(eventOf(event));
    }
    throw cutAnswer();
  }
  return checkedResponse(contract, await readBody(response));
}

/** The JSON of a successful response. @throws GloveboxError: the server's own, or NETWORK_ERROR if it is not JSON */
async function readBody(response: Response): Promise<unknown> {
  let text = "";
  for await (const line of readLines(response)) text += text === "" ? line : `\n${line}`;
  const body = parseJson(text);
  if (response.ok) return body;
  throw errorOf(body, response);
}

/** Null for one that this version does not know. */
function readEvent(text: string): WireEvent | null {
  const json = parseJson(text);
  const parsed = wireEventSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const { event } = (json ?? {}) as { readonly event?: unknown };
  if (event === "result" || event === "error") throw strangeAnswer(`a bad ${event}`, parsed.error);
  return null;
}

function errorOf(body: unknown, { status, headers }: Response): GloveboxError {
  const parsed = wireErrorSchema.safeParse(body);
  if (!parsed.success) throw strangeAnswer(`HTTP status ${status}`, parsed.error);
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  return errorOfWire(parsed.data, Number.isNaN(retryAfter) ? {} : { retry_after_seconds: retryAfter });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw strangeAnswer("it is not JSON", error);
  }
}

/**
 * Maximum characters of one line: an answer with two streams of output at their cap, and its files, written as JSON.
 */
const maxLineCharacters = 268_435_456;

/** The lines of a body as they come; the last one needs no newline. @throws NETWORK_ERROR for one that is too long */
export async function* readLines(
  { body }: Pick<Response, "body">,
  maxCharacters: number = maxLineCharacters,
): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  let [pieces, length]: [string[], number] = [[], 0];
  const line = (last: string): string => {
    const whole = [...pieces, last].join("");
    [pieces, length] = [[], 0];
    return whole;
  };
  const reader = body?.getReader();
  try {
    for (;;) {
      const next = await reader?.read();
      if (next?.value === undefined) break;
      const parts = decoder.decode(next.value as Uint8Array, { stream: true }).split("\n");
      const rest = parts.pop() ?? "";
      for (const part of parts) yield line(part);
      pieces.push(rest);
      length += rest.length;
      if (length > maxCharacters) throw strangeAnswer(`a line of more than ${maxCharacters} characters`);
    }
    const last = line(decoder.decode());
    if (last !== "") yield last;
  } finally {
    // A reader that stops early needs nothing more of it.
    await reader?.cancel().catch(() => undefined);
  }
}
