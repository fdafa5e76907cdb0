import { HttpRefusal, ofEveryAnswer, untilClosed, sendAnswer, answerOf } from "./http-answer.ts";
import type { ServerResponse, IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest, FastifyInstance } from "fastify";
import { settlesWithin } from "../base/abort.ts";
import { kibibyte } from "../base/bytes.ts";
import { untilWritable } from "../base/streams/chunks.ts";
import type { ContentHead, OperationContract } from "../operations/contract/operation-contract.ts";
import { callerOf, orRevoked } from "./caller.ts";
import type { RouteContext } from "./routes/route-context.ts";
import { bytesType } from "./answer-form.ts";
import { invalidField } from "../errors/glovebox-error.ts";
import { parseRequest } from "../operations/contract/parse-request.ts";
import { assembleRequest, fieldTypes, type RequestParts } from "./routes/read-request.ts";
import { dropBody } from "../base/http/read-body.ts";
import { takesItsTime } from "./broken-request.ts";

/** The part of a file that a request wants; empty: all of it. */
interface WantedPart {
  readonly offset?: number;
  readonly limit?: number;
  readonly last?: number;
}

const form = /^bytes=(?:(?<first>\d{1,15})-(?<end>\d{1,15})?|-(?<last>\d{1,15}))$/;

/**
 * What `Range` asks for. Other units than bytes are ignored, and so is a range that depends on a validator (`If-Range`), of which
 * files here have none.
 * @throws 416 for a range of bytes that is malformed, or for several
 */
export function readRange({
  range,
  "if-range": condition,
}: {
  readonly range?: string | undefined;
  readonly "if-range"?: unknown;
}): WantedPart {
  const text = range?.replaceAll(/\s/g, "").toLowerCase() ?? "";
  if (condition !== undefined || !text.startsWith("bytes=")) return {};
  const { first, end, last } = form.exec(text)?.groups ?? {};
  if (last !== undefined && Number(last) > 0) return { last: Number(last) };
  if (first === undefined) throw badRange(null);
  const [offset, lastByte] = [Number(first), end === undefined ? null : Number(end)];
  if (lastByte === null) return { offset };
  if (lastByte < offset) throw badRange(null);
  return { offset, limit: lastByte - offset + 1 };
}

/** What one transfer may have on its way, in either direction: what streams hold before they wait. */
const transferBytes: number = 256 * kibibyte;

/** The routes of content as bytes; a download that shares its path with an answer in JSON is offered there (`bytesAt`). */
export function addByteRoutes(app: FastifyInstance, context: RouteContext): void {
  const taken = new Set(context.operations.flatMap(({ routes }) => routes.map(keyOf)));
  for (const contract of context.operations) {
    const { direction, paths = [] } = contract.bytes ?? {};
    if (contract.audience !== "everyone") continue;
    for (const path of paths) {
      if (direction === "up") addUpload(app, context, contract, path);
      else if (!taken.has(keyOf({ method: "GET", path }))) {
        app.get(path.replaceAll(/\{(\w+)\}/g, ":$1"), (request, reply) =>
          download(context, contract, { request, reply }),
        );
      }
    }
  }
}

/** The operation that sends the content of what is at a path; undefined: none. */
export function bytesAt(
  { operations }: Pick<RouteContext, "operations">,
  route: { readonly method: string; readonly path: string },
): OperationContract | undefined {
  return operations.find(
    ({ bytes }) => route.method === "GET" && bytes?.direction === "down" && bytes.paths.includes(route.path),
  );
}

/** Answers with the content of what is at a path, or the part of it that `Range` or the query names. */
export function download(
  context: RouteContext,
  contract: OperationContract,
  http: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { params, query, headers } = http.request;
  const parts = { path: params as RequestParts["path"], query: query as RequestParts["query"], body: undefined };
  const form = { takesBody: false, types: fieldTypes(contract) };
  const request = parseRequest(contract, assembleRequest(parts, form));
  return sendBytes(context, { contract, request, part: readRange(headers) }, http);
}

/** Everything is in the path: the body is the content. @throws INVALID_REQUEST naming the field */
function readPath(contract: OperationContract, { params, query }: FastifyRequest): Record<string, unknown> {
  const [stray] = Object.keys(query as object);
  if (stray !== undefined) throw invalidField(stray, "nothing in the query", Reflect.get(query as object, stray));
  const parts = { path: params as RequestParts["path"], query: {}, body: {} };
  return parseRequest(contract, assembleRequest(parts, { takesBody: true, types: new Map() }));
}

function keyOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}

/** Who sends nothing, or takes nothing, for this long is considered gone, even if its connection is open. */
const stalledAfterMs = 60_000;

interface Upload {
  readonly contract: OperationContract;
  /** @throws INVALID_REQUEST */
  readonly read: () => Record<string, unknown>;
}

interface HttpExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Runs an operation whose input is the body, read as fast as the operation takes it and never held as a whole. */
async function receiveBytes(
  context: RouteContext,
  asked: Upload,
  { request, reply }: HttpExchange,
): Promise<FastifyReply> {
  try {
    return await receive(context, asked, { request, reply });
  } catch (error) {
    // Closed on unread bytes, its client would lose the answer.
    await dropBody(request.raw);
    throw error;
  }
}

async function receive(
  { platform, inFlight, assertTakesWork }: RouteContext,
  { contract, read }: Upload,
  { request, reply }: HttpExchange,
): Promise<FastifyReply> {
  assertTakesWork();
  const asked = read();
  const caller = callerOf(request);
  const size = announcedSize(request.raw);
  const held = inFlight.hold(caller.principal, transferBytes);
  const isDone = takesItsTime(request.raw.socket);
  reply.raw.once("close", () => {
    held.release();
    // The next request of this connection has the usual time again.
    isDone();
  });
  const stalled = new AbortController();
  const signals = [untilClosed(reply.raw), stalled.signal, ...(caller.revoked === undefined ? [] : [caller.revoked])];
  const call = { ...caller, signal: AbortSignal.any(signals), stdin: piecesOf(request.raw, stalled) };
  try {
    const sized = size === null ? asked : { ...asked, size_bytes: size };
    const answer = await orRevoked(platform.call(contract, sized, call), caller.revoked);
    return await sendAnswer(reply, answerOf(answer));
  } catch (error) {
    throw stalled.signal.aborted ? tooSlow() : error;
  }
}

/** Null: its end will tell. @throws 415, 411, 400 */
function announcedSize({ headers }: IncomingMessage): number | null {
  const { "content-type": type = bytesType, "content-length": length, "transfer-encoding": coding } = headers;
  if (type.split(";", 1)[0]?.trim().toLowerCase() !== bytesType) throw otherType(type);
  if (length !== undefined) return Number(length);
  if (coding !== undefined) return null;
  throw new HttpRefusal(411, "INVALID_REQUEST", "body: expected the content of the file, got no body.", {
    suggestion: "Send Content-Length (0 for an empty file) or Transfer-Encoding: chunked.",
    context: { field: "body" },
  });
}

async function* piecesOf(body: IncomingMessage, stalled: AbortController): AsyncGenerator<Uint8Array, void, undefined> {
  // Only while waiting for the sender: the sandbox may take its time.
  let timer: NodeJS.Timeout | undefined;
  const waitForSender = (): void => {
    timer = setTimeout(() => stalled.abort(), stalledAfterMs).unref();
  };
  try {
    waitForSender();
    // Destroying it early would end the connection before the answer.
    for await (const piece of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      clearTimeout(timer);
      yield piece;
      waitForSender();
    }
  } finally {
    clearTimeout(timer);
  }
}

function otherType(type: string): HttpRefusal {
  return new HttpRefusal(415, "INVALID_REQUEST", `body: expected the Content-Type ${bytesType}.`, {
    suggestion: `Send the file as it is, with the header Content-Type: ${bytesType}; as JSON: the same path without the file's.`,
    context: { field: "Content-Type", content_type: type.slice(0, 100) },
  });
}

function tooSlow(): HttpRefusal {
  return new HttpRefusal(408, "INVALID_REQUEST", "The body did not go on for a minute; the file is as it was.", {
    suggestion: "Send it again, without such pauses.",
  });
}

/** The refusal of a range that a file of so many bytes does not have; null: of one that no file has. */
function badRange(sizeBytes: number | null): HttpRefusal {
  const problem = sizeBytes === null ? "it is malformed, or more than one" : `the file has ${sizeBytes} bytes`;
  return new HttpRefusal(416, "INVALID_REQUEST", `Range: expected one range within the file; ${problem}.`, {
    suggestion: "Send bytes=FIRST-LAST, bytes=FIRST- or bytes=-LENGTH, or no Range for the whole file.",
    context: { field: "Range", ...(sizeBytes === null ? {} : { size_bytes: sizeBytes }) },
  });
}

/**
 * Answers with the output of a call, as fast as its reader takes it. The status is sent with the first byte, so that a refusal has
 * its own; a failure after that cuts the answer off, which its reader sees.
 */
async function sendBytes(
  { platform, inFlight }: RouteContext,
  asked: { readonly contract: OperationContract; readonly request: Record<string, unknown>; readonly part: WantedPart },
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const caller = callerOf(request);
  const response = reply.raw;
  const held = inFlight.hold(caller.principal, transferBytes);
  response.once("close", () => held.release());
  const gone = [untilClosed(response), ...(caller.revoked === undefined ? [] : [caller.revoked])];
  let left: number | null = null;
  const answer = platform.call(
    asked.contract,
    { ...asked.request, ...asked.part },
    {
      ...caller,
      signal: AbortSignal.any(gone),
      onContent: (head) => {
        const { offset, sizeBytes } = head;
        if (sizeBytes !== null && offset >= sizeBytes && (asked.part.offset ?? 0) > 0) {
          void reply.header("content-range", `bytes */${sizeBytes}`);
          throw badRange(sizeBytes);
        }
        left = head.length;
        reply.hijack();
        writeHead(reply, head, asked.part);
      },
      onEvent: async (event) => {
        if (event.type !== "output" || response.destroyed) return;
        // More than was announced would be read as the next answer.
        const bytes = left === null ? event.bytes : event.bytes.subarray(0, left);
        if (left !== null) left -= bytes.length;
        if (!response.write(bytes)) await untilTaken(response);
      },
    },
  );
  try {
    await orRevoked(answer, caller.revoked);
  } catch (error) {
    if (!response.headersSent) throw error;
    response.destroy();
    return reply;
  }
  // A program may have cut the file off meanwhile.
  if (left === null || left === 0) response.end();
  else response.destroy();
  return reply;
}

function writeHead(reply: FastifyReply, { sizeBytes, offset, length }: ContentHead, part: WantedPart): void {
  const response = reply.raw;
  for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...ofEveryAnswer })) {
    if (value !== undefined) response.setHeader(name, value);
  }
  const isPart = sizeBytes !== null && length !== null && length > 0 && Object.keys(part).length > 0;
  response.writeHead(isPart ? 206 : 200, {
    "content-type": bytesType,
    // The content is the sandbox's: no browser shows it as a page of this server.
    "content-disposition": "attachment",
    "accept-ranges": sizeBytes === null ? "none" : "bytes",
    ...(length === null ? {} : { "content-length": length }),
    ...(isPart ? { "content-range": `bytes ${offset}-${offset + length - 1}/${sizeBytes}` } : {}),
  });
  response.flushHeaders();
}

async function untilTaken(response: ServerResponse): Promise<void> {
  if (!(await settlesWithin(untilWritable(response), stalledAfterMs))) response.destroy();
}

function addUpload(app: FastifyInstance, context: RouteContext, contract: OperationContract, path: string): void {
  // A scope of its own: here alone, bodies are not read as JSON.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_, __, done) => done(null));
    scope.put(path.replaceAll(/\{(\w+)\}/g, ":$1"), (request, reply) =>
      receiveBytes(context, { contract, read: () => readPath(contract, request) }, { request, reply }),
    );
  });
}
