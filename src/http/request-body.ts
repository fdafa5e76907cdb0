import type { FastifyReply, FastifyRequest, FastifyInstance } from "fastify";
import { kibibyte, formatBytes, mebibyte } from "../base/bytes.ts";
import { dropBody, readBody } from "../base/http/read-body.ts";
import { GrowingBuffer } from "../base/streams/collected-bytes.ts";
import { invalidField, toGloveboxError } from "../errors/glovebox-error.ts";
import { takesItsTime } from "./broken-request.ts";
import type { AnswerForm } from "./answer-form.ts";
import type { BytesInFlight, HeldBytes } from "../calls/bytes-in-flight.ts";
import { noRoomNow, answerOfError, jsonType, HttpRefusal, translateError } from "./http-answer.ts";
import { assertBoundedJson } from "../base/json-text.ts";
import { LoopTurns } from "../calls/loop-turns.ts";
import { inputType } from "../operations/contract/operation-contract.ts";

/** Standard input that follows a request in its body. */
interface RequestInput {
  /** Read only as far as the program takes it. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Reads and drops what the program did not read, within bounds: closed on unread bytes, its client would lose the answer. */
  readonly drop: () => Promise<void>;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Null: nothing follows the request. */
    input: RequestInput | null;
    /** What its body takes; null for none, and once the work on it has that. */
    heldBody: HeldBytes | null;
    /** Keeps an answer for which there is no room now; returns the id with which it can be asked for. Null: it is not of a run. */
    keepAnswer: (() => string) | null;
  }
  interface FastifyContextConfig {
    /** Whether standard input may follow a request of this route. */
    takesInput?: boolean;
  }
}

/** What is on its way between the connection and the sandbox. */
const onItsWayBytes = 256 * kibibyte;

/** Answers a request that standard input may follow: its run has a time of its own, and the answer does not wait for the rest. */
export async function answerWithInput(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  answer: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const { input } = request;
  if (input === null) return answer();
  const isDone = takesItsTime(request.raw.socket);
  // The next request of this connection has the usual time again.
  reply.raw.once("close", isDone);
  reply.raw.once("finish", () => void input.drop());
  try {
    return await answer();
  } catch (error) {
    await input.drop();
    throw error;
  }
}

/**
 * A second request with the same key could not be compared, and nothing more comes without its client.
 * @throws INVALID_REQUEST for what standard input cannot follow
 */
export function assertInputFits(
  { request, key }: { readonly request: Readonly<Record<string, unknown>>; readonly key: string | undefined },
  form: AnswerForm,
): void {
  const expected = "to be left out where standard input follows the request";
  if (request["stdin"] !== undefined) throw invalidField("stdin", expected, "both");
  if (key !== undefined) throw invalidField("Idempotency-Key", expected, key);
  if (form === "async") throw invalidField("Prefer", expected, "respond-async");
}

/** Shorter answers are not counted: each connection has one of them at most, and the kernel takes them at once. */
const countedFrom = 16 * kibibyte;

/**
 * Counts every answer against its caller's share until its reader has taken it, and the bodies that `holdBody` began to
 * count until they are answered. An answer that is too much is replaced by the error `CAPACITY`, which is short.
 */
export function holdBytes(app: FastifyInstance, inFlight: BytesInFlight): void {
  app.decorateRequest("heldBody", null);
  app.decorateRequest("keepAnswer", null);
  app.addHook("onRequest", async (request, reply) => {
    reply.raw.once("close", () => request.heldBody?.release());
  });
  app.addHook("onSend", async (request, reply, payload) => {
    const bytes = sizeOf(reply, payload);
    if (bytes < countedFrom) return payload;
    try {
      const held = inFlight.hold(request.caller?.principal ?? null, bytes);
      reply.raw.once("close", () => held.release());
      return payload;
    } catch (error) {
      const id = request.keepAnswer?.();
      const known = id === undefined ? toGloveboxError(error) : noRoomNow(error, id);
      const { status, body, retryAfterSeconds } = answerOfError(known);
      void reply.code(status).removeHeader("content-length");
      void reply.headers({ "retry-after": String(retryAfterSeconds), "content-type": jsonType });
      return body;
    }
  });
}

/** Counts the body of a request until the work on it has ended, whenever its client leaves. */
export function keepBody(request: FastifyRequest, ended: Promise<unknown>): void {
  const { heldBody: held } = request;
  request.heldBody = null;
  if (held !== null) void ended.finally(() => held.release());
}

/** Maximum body of a route: 1 MiB, which ids, commands and settings never fill. */
export const maxBodyBytes: number = mebibyte;
/** Of a route whose requests carry programs and files: the largest file, 10 MiB, has 14 MiB as base64. */
export const maxContentBodyBytes: number = 16 * mebibyte;

/**
 * Accepts JSON in UTF-8, as large as its route allows, and where the route takes it also a line of JSON that standard input
 * follows; nothing else. An empty body counts as none.
 */
export function readJsonBodies(app: FastifyInstance, inFlight: BytesInFlight): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.decorateRequest("input", null);
  const turns = new LoopTurns();
  app.addContentTypeParser("application/json", async (request: FastifyRequest) => {
    const { bodyLimit: maxBytes } = request.routeOptions;
    const held = holdBody(request, inFlight);
    const body = await readBody(request.raw, { maxBytes, onHold: (bytes) => held.set(bytes) }).catch(
      (error: unknown) => {
        throw request.raw.errored === null ? error : translateError({ code: "FST_ERR_CTP_INVALID_CONTENT_LENGTH" });
      },
    );
    if (body === null) throw tooLarge(maxBytes);
    return body.length === 0 ? undefined : parseJson(request, body);
  });
  app.addContentTypeParser(inputType, async (request: FastifyRequest) => {
    const { bodyLimit: maxBytes, config } = request.routeOptions;
    if (config.takesInput !== true) throw translateError({ code: "FST_ERR_CTP_INVALID_MEDIA_TYPE" });
    const held = holdBody(request, inFlight);
    const line = await readRequestLine(request, { maxBytes, onHold: (bytes) => held.set(bytes) });
    if (line === null) throw tooLarge(maxBytes);
    return parseJson(request, line);
  });

  async function parseJson(request: FastifyRequest, body: Buffer): Promise<unknown> {
    await turns.take(request.caller?.principal ?? "");
    assertBoundedJson(body);
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    } catch {
      throw translateError({ code: "FST_ERR_CTP_INVALID_JSON_BODY" });
    }
    const parsed = Promise.withResolvers<unknown>();
    // The original message quotes the parser.
    void parse(request, text, (error, value) =>
      error === null ? parsed.resolve(value) : parsed.reject(translateError(error)),
    );
    return parsed.promise;
  }
}

function tooLarge(maxBytes: number): HttpRefusal {
  return new HttpRefusal(413, "INVALID_REQUEST", `body: expected at most ${formatBytes(maxBytes)}, got more.`, {
    suggestion: "Send less in one request: write large files in pieces, stream them through /unpack, or package them.",
    context: { field: "body", max_bytes: maxBytes },
  });
}

/**
 * The first line of a body; null if it is longer than `maxBytes`. What follows it is the request's `input`, of any size: the
 * sandbox is given it as fast as its program reads. `onHold` is told what is held, before there is more.
 * @throws INVALID_REQUEST for a body without a line feed, what `onHold` throws
 */
async function readRequestLine(
  request: FastifyRequest,
  { maxBytes, onHold }: { readonly maxBytes: number; readonly onHold: (bytes: number) => void },
): Promise<Buffer | null> {
  const { raw } = request;
  // Destroying it early would end the connection before the answer.
  const chunks = raw.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Uint8Array>;
  const drop = async (): Promise<void> => {
    // A read that waits for its sender is not waited for.
    Promise.resolve(chunks.return?.()).catch(() => undefined);
    await dropBody(raw);
  };
  const line = new GrowingBuffer();
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) throw invalidField("body", "a line of JSON that ends with a line feed", "none");
      const end = next.value.indexOf(0x0a);
      const part = end === -1 ? next.value : next.value.subarray(0, end);
      if (line.length + part.length > maxBytes) break;
      onHold(line.length + part.length + onItsWayBytes);
      line.append(part);
      if (end === -1) continue;
      request.input = { chunks: restOf(next.value.subarray(end + 1), chunks), drop };
      return line.take();
    }
  } catch (error) {
    await drop();
    throw error;
  }
  await drop();
  return null;
}

async function* restOf(
  first: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (first.length > 0) yield first;
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
}

/** Begins to count the body of a request. @throws CAPACITY */
function holdBody(request: FastifyRequest, inFlight: BytesInFlight): HeldBytes {
  request.heldBody = inFlight.hold(request.caller?.principal ?? null);
  return request.heldBody;
}

function sizeOf(reply: FastifyReply, payload: unknown): number {
  if (typeof payload === "string") return Buffer.byteLength(payload);
  if (payload instanceof Uint8Array) return payload.byteLength;
  return Number(reply.getHeader("content-length") ?? 0);
}
