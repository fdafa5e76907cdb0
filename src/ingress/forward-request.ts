import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline, type Duplex } from "node:stream";
import { badAnswer, lateAnswer, unreachable } from "./refusals.ts";
import { hasBody } from "./headers/request-headers.ts";
import { responseHeaders } from "./headers/response-headers.ts";
import { sendOwnAnswer } from "./own-answer.ts";
import { sendInside } from "./send-inside.ts";
import type { OuterOrigin, Upstream } from "./upstream.ts";

export interface Forwarding {
  readonly upstream: Upstream;
  readonly outer: OuterOrigin;
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
  { upstream, outer, isStarting, ended }: Forwarding,
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
  const sent = sendInside({ request, connection, upstream, outer });
  const late = setTimeout(() => sent.destroy(new LateError()), answerWithinMs).unref();
  signal.addEventListener("abort", () => endBoth(), { once: true });
  const endBoth = (): void => {
    clearTimeout(late);
    sent.destroy();
    if (!response.writableFinished) response.destroy();
  };
  sent.on("error", (error) => {
    clearTimeout(late);
    if (!gone.signal.aborted) sendOwnAnswer(request, response, error instanceof LateError ? lateAnswer : badAnswer);
  });
  // It was not asked to switch protocols.
  sent.on("upgrade", (_, inner) => {
    clearTimeout(late);
    inner.destroy();
    sendOwnAnswer(request, response, badAnswer);
  });
  sent.on("response", (answer) => {
    clearTimeout(late);
    answerWith(request, response, answer, { upstream, outer });
  });
  if (hasBody(request)) request.pipe(sent);
  else sent.end();
}

class LateError extends Error {}

function answerWith(
  request: IncomingMessage,
  response: ServerResponse,
  answer: IncomingMessage,
  { upstream, outer }: Pick<Forwarding, "upstream" | "outer">,
): void {
  response.sendDate = false;
  try {
    response.writeHead(answer.statusCode ?? 0, responseHeaders(answer, upstream, outer));
  } catch {
    // A status or a value that no answer may have.
    answer.destroy();
    sendOwnAnswer(request, response, badAnswer);
    return;
  }
  // What streams begins before its first byte.
  response.flushHeaders();
  pipeline(answer, response, () => {
    // A broken answer has also broken off the browser's.
  });
}
