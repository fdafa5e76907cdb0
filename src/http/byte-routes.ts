import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { invalidField } from "../errors/glovebox-error.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";
import { parseRequest } from "../operations/contract/parse-request.ts";
import { assembleRequest, fieldTypes, type RequestParts } from "./routes/read-request.ts";
import type { RouteContext } from "./routes/route-context.ts";
import { readRange } from "./byte-range.ts";
import { sendBytes, transferBytes } from "./send-bytes.ts";
import type { IncomingMessage } from "node:http";
import { dropBody } from "../base/http/read-body.ts";
import { callerOf } from "./caller.ts";
import { orRevoked } from "./or-revoked.ts";
import { HttpRefusal } from "./server/http-refusal.ts";
import { sendAnswer } from "./server/send-answer.ts";
import { untilClosed } from "./server/until-closed.ts";
import { answerOf } from "./server/wire-answer.ts";
import { bytesType } from "./accepts-bytes.ts";
import { takesItsTime } from "./slow-uploads.ts";

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

/** A sender that sends nothing for this long is considered gone, even if its connection is open. */
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
