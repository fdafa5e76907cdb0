import { errorCatalogue, type ErrorType } from "../errors/catalogue.ts";
import { GloveboxError, errorCode, toGloveboxError, type GloveboxErrorOptions } from "../errors/glovebox-error.ts";
import { kibibyte } from "../base/bytes.ts";
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { Logger } from "../base/logger.ts";
import type { ServerResponse } from "node:http";
import type { HeldBytes } from "../calls/bytes-in-flight.ts";

/** A refusal at the HTTP level (no token, unknown method, too large), with its HTTP status. */
export class HttpRefusal extends GloveboxError {
  readonly httpStatus: number;

  constructor(httpStatus: number, errorType: ErrorType, message: string, options: GloveboxErrorOptions = {}) {
    super(errorType, message, { suggestion: options.suggestion ?? "", context: options.context ?? {} });
    this.httpStatus = httpStatus;
  }
}

/** Characters of a text that are written at once; a longer one makes its JSON long. */
const partLength = 16 * kibibyte;

/** Whether a text somewhere in the value is so long that its JSON should be written in parts. */
export function hasLongText(value: unknown): boolean {
  if (typeof value === "string") return value.length > partLength;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((each) => hasLongText(each));
}

/** What `JSON.stringify` makes of plain data, in parts: a long text is never copied as a whole. */
export function* jsonParts(value: unknown): Generator<string, undefined> {
  if (!hasLongText(value)) yield JSON.stringify(value) ?? "null";
  else if (typeof value === "string") yield* textParts(value);
  else if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      yield index === 0 ? "[" : ",";
      yield* jsonParts(each);
    }
    yield "]";
  } else {
    let before = "{";
    for (const [name, each] of Object.entries(value as object)) {
      if (each === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* jsonParts(each);
      before = ",";
    }
    yield "}";
  }
}

/** A JSON text that is written in parts when it is needed, because it is long. */
export class LongJson {
  readonly #value: unknown;
  #byteLength: number | undefined;

  constructor(value: unknown) {
    this.#value = value;
  }

  /** Of its text in UTF-8. */
  get byteLength(): number {
    if (this.#byteLength === undefined) {
      this.#byteLength = 0;
      for (const part of this.parts()) this.#byteLength += Buffer.byteLength(part);
    }
    return this.#byteLength;
  }

  parts(): Iterable<string> {
    return jsonParts(this.#value);
  }
}

/** An answer as it goes out: a JSON text and its status. */
export interface WireAnswer {
  readonly status: number;
  readonly body: string | LongJson;
  readonly isError: boolean;
  /** When the same request may be retried; null: unspecified. */
  readonly retryAfterSeconds: number | null;
}

export const jsonType = "application/json; charset=utf-8";

/** The whole text of an answer, for doors that need it at once. */
export function textOf({ body }: Pick<WireAnswer, "body">): string {
  return typeof body === "string" ? body : [...body.parts()].join("");
}

/** For errors that are retryable without a given delay. */
const defaultRetrySeconds = 5;

export function answerOf(response: unknown): WireAnswer {
  const body = hasLongText(response) ? new LongJson(response) : JSON.stringify(response);
  return { status: 200, body, isError: false, retryAfterSeconds: null };
}

export function answerOfError(error: GloveboxError): WireAnswer & { readonly body: string } {
  const { errorType, context } = error;
  const status = error instanceof HttpRefusal ? error.httpStatus : errorCatalogue[errorType].httpStatus;
  const { retry_after_seconds: known } = context;
  const retryAfter = typeof known === "number" ? Math.max(1, Math.ceil(known)) : defaultRetrySeconds;
  return {
    status,
    body: JSON.stringify(error.toWire()),
    isError: true,
    retryAfterSeconds: errorType === "CAPACITY" ? retryAfter : null,
  };
}

const badJson = (message: string): HttpRefusal =>
  new HttpRefusal(400, "INVALID_REQUEST", message, {
    suggestion: "Send one JSON object in UTF-8 as the body, with the Content-Type application/json.",
    context: { field: "body" },
  });

/** The framework's own refusals, by its error codes. */
const refusals: Readonly<Record<string, () => HttpRefusal>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: () => badJson("body: expected JSON, got something else."),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => badJson("body: expected JSON, got nothing."),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => badJson("body: its length differs from Content-Length."),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new HttpRefusal(415, "INVALID_REQUEST", "body: expected the Content-Type application/json.", {
      suggestion: "Send JSON, with the header Content-Type: application/json.",
      context: { field: "body" },
    }),
  FST_ERR_BAD_URL: () => badUrl(),
  FST_ERR_MAX_PARAM_LENGTH: () => badUrl(),
};

/** The error as sent to a client; it reveals nothing about an unexpected one. */
export function translateError(error: unknown): GloveboxError {
  return refusals[errorCode(error)]?.() ?? refusedByFramework(error) ?? toGloveboxError(error);
}

export function sendAnswer(reply: FastifyReply, { status, body, retryAfterSeconds }: WireAnswer): FastifyReply {
  if (retryAfterSeconds !== null) void reply.header("retry-after", String(retryAfterSeconds));
  void reply.code(status).type(jsonType);
  if (typeof body === "string") return reply.send(body);
  const parts = Readable.from(body.parts(), { objectMode: false });
  return reply.header("content-length", body.byteLength).send(parts);
}

/** Sends an error in the standard form; details of unexpected ones are only in the log. */
export function sendError(reply: FastifyReply, error: unknown, logger: Logger): FastifyReply {
  const known = translateError(error);
  if (known.errorType === "INTERNAL") logger.error({ err: known.cause ?? known }, "an HTTP request failed");
  return sendAnswer(reply, answerOfError(known));
}

/** Headers of every response. */
export const ofEveryAnswer = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;

/** Aborts when the client disconnects before it has its answer. */
export function untilClosed(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}

interface AnswerShare {
  /** Where the answer counts. */
  readonly held: HeldBytes;
  /** What is held for other things, in bytes. */
  readonly besideBytes: number;
  /** Of the run. */
  readonly id: string;
  /** From now on the answer can be asked for by the run's id. */
  readonly keep: () => void;
}

/** The answer, or the error that there is no room for it now, and where it is. */
export function withinShare(answer: WireAnswer, { held, besideBytes, id, keep }: AnswerShare): WireAnswer {
  try {
    held.set(besideBytes + sizeOfBody(answer));
    return answer;
  } catch (error) {
    keep();
    return answerOfError(noRoomNow(error, id));
  }
}

/** The error for the answer to a run, which has ended. */
export function noRoomNow(error: unknown, id: string): GloveboxError {
  const { errorType, message, context } = toGloveboxError(error);
  const suggestion = `Read the answers that wait for you, and ask for this one with GET /api/sandbox/${id}.`;
  return new GloveboxError(errorType, message, { suggestion, context: { ...context, id } });
}

function* textParts(text: string): Generator<string, undefined> {
  yield '"';
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + partLength, text.length);
    // Half a pair of surrogates would be written as an escape.
    if (to < text.length && isFirstHalf(text.charCodeAt(to - 1))) to -= 1;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Its bytes in UTF-8. */
function sizeOfBody({ body }: Pick<WireAnswer, "body">): number {
  return typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
}

/** Other errors that the framework finds in a request. */
function refusedByFramework(error: unknown): HttpRefusal | null {
  if (!errorCode(error).startsWith("FST_ERR_")) return null;
  const { statusCode: status } = error as { readonly statusCode?: unknown };
  if (typeof status !== "number" || status < 400 || status >= 500) return null;
  return new HttpRefusal(status, "INVALID_REQUEST", "The request is not valid HTTP for this path.", {
    suggestion: "See /docs for what this path accepts.",
  });
}

function badUrl(): HttpRefusal {
  return new HttpRefusal(400, "INVALID_REQUEST", "url: malformed, or a part is too long.", {
    suggestion: "Percent-encode (as UTF-8) all characters except letters, digits and -._~.",
    context: { field: "url" },
  });
}
