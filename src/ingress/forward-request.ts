import { request as httpRequest, type ClientRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline, type Duplex } from "node:stream";
import { maxHeadBytes, requestHeaders, hasBody, responseHeaders, isOddlyFramed } from "./http-heads.ts";
import type { OwnCredentials } from "./own-credentials.ts";
import type { OuterOrigin, Upstream } from "./upstream.ts";
import { errorCode } from "../errors/glovebox-error.ts";
import { answerTooLarge, badAnswer, lateAnswer, unreachable } from "./refusals.ts";
import { sendOwnAnswer, type OwnAnswer } from "./own-answer.ts";

/** Interim answers (early hints and the like, which are not passed on) before the answer: a program may send any number. */
const maxInterim = 16;

interface SendInside {
  readonly request: IncomingMessage;
  readonly connection: Duplex;
  readonly upstream: Upstream;
  readonly outer: OuterOrigin;
  readonly own: OwnCredentials;
  /** Beside those that are passed on. */
  readonly headers?: readonly string[] | undefined;
}

/**
 * Begins the same request on a connection to its program. An answer that is not HTTP, a head that is too large and endless
 * interim answers are an error of what it returns, which ends this one exchange.
 */
export function sendInside({ request, connection, headers = [], ...way }: SendInside): ClientRequest {
  connection.on("error", () => {
    // The request learns of it by itself.
  });
  const sent = httpRequest({
    method: request.method ?? "GET",
    path: request.url ?? "/",
    headers: [...requestHeaders(request, way), ...headers] as never,
    createConnection: () => connection,
    setHost: false,
    maxHeaderSize: maxHeadBytes,
    insecureHTTPParser: false,
  });
  // Their size is what is bounded.
  sent.maxHeadersCount = 0;
  let interim = 0;
  sent.on("information", () => {
    if (++interim > maxInterim) sent.destroy(new Error("too many interim answers"));
  });
  sent.once("close", () => connection.destroy());
  return sent;
}

export interface Forwarding {
  readonly upstream: Upstream;
  readonly outer: OuterOrigin;
  readonly own: OwnCredentials;
  /** Whether nothing can be expected to listen yet. */
  readonly isStarting: boolean;
  /** Aborts when the preview ends. */
  readonly ended: AbortSignal;
}

/** How long a program may take until its answer begins: development servers compile on the first request. */
const answerWithinMs = 120_000;

/** Sends a request on and its answer back, piece by piece; whatever either end does ends only this one exchange. */
export async function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { upstream, outer, own, isStarting, ended }: Forwarding,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  request.on("error", () => gone.abort());
  response.on("error", () => gone.abort());
  const signal = AbortSignal.any([gone.signal, ended]);
  let connection: Duplex;
  try {
    connection = await upstream.connect(signal);
  } catch {
    if (!gone.signal.aborted) sendOwnAnswer(request, response, unreachable(upstream, isStarting));
    return;
  }
  if (signal.aborted) {
    connection.destroy();
    response.destroy();
    return;
  }
  const sent = sendInside({ request, connection, upstream, outer, own });
  const late = setTimeout(() => sent.destroy(new LateError()), answerWithinMs).unref();
  signal.addEventListener("abort", () => endBoth(), { once: true });
  const endBoth = (): void => {
    clearTimeout(late);
    sent.destroy();
    if (!response.writableFinished) response.destroy();
  };
  // From then on the answer itself says whether it is whole: what comes behind it (a body for HEAD) does no harm.
  let isAnswered = false;
  sent.on("error", (error) => {
    clearTimeout(late);
    if (!isAnswered && !gone.signal.aborted) sendOwnAnswer(request, response, answerForError(error));
  });
  // It was not asked to switch protocols.
  sent.on("upgrade", (_, inner) => {
    clearTimeout(late);
    inner.destroy();
    sendOwnAnswer(request, response, badAnswer);
  });
  sent.on("response", (answer) => {
    isAnswered = true;
    clearTimeout(late);
    answerWith(request, response, answer, { upstream, outer });
  });
  if (hasBody(request)) request.pipe(sent);
  else sent.end();
}

class LateError extends Error {}

/** What an error on the program's side means to the browser. */
export function answerForError(error: Error): OwnAnswer {
  if (error instanceof LateError) return lateAnswer;
  return errorCode(error) === "HPE_HEADER_OVERFLOW" ? answerTooLarge : badAnswer;
}

function answerWith(
  request: IncomingMessage,
  response: ServerResponse,
  answer: IncomingMessage,
  { upstream, outer }: Pick<Forwarding, "upstream" | "outer">,
): void {
  response.sendDate = false;
  if (isOddlyFramed(answer)) {
    answer.destroy();
    return sendOwnAnswer(request, response, badAnswer);
  }
  try {
    const headers = responseHeaders(answer, upstream, outer);
    response.writeHead(answer.statusCode ?? 0, answer.statusMessage ?? "", headers);
  } catch {
    // A status or a value that no answer may have.
    answer.destroy();
    sendOwnAnswer(request, response, badAnswer);
    return;
  }
  // What streams begins before its first byte. `flushHeaders` would encode the values anew, as UTF-8.
  response.write(Buffer.alloc(0));
  pipeline(answer, response, () => {
    // A broken answer has also broken off the browser's.
  });
}
