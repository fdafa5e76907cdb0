import { request as httpRequest, ServerResponse, type ClientRequest, type IncomingMessage } from "node:http";
import { pipeline, type Duplex } from "node:stream";
import {
  maxHeadBytes,
  requestHeaders,
  hasBody,
  responseHeaders,
  isOddlyFramed,
  pairsOf,
  isUnclear,
} from "./http-heads.ts";
import type { OwnCredentials } from "./own-credentials.ts";
import { isBackendPath, mayLeaveApi, type OuterOrigin, type Upstream } from "./upstream.ts";
import { errorCode } from "../errors/glovebox-error.ts";
import {
  answerTooLarge,
  badAnswer,
  lateAnswer,
  unreachable,
  headTooLarge,
  noBackend,
  noRoom,
  shownCredential,
  tooMany,
  unclearRequest,
  onlyWebSockets,
} from "./refusals.ts";
import { sendOwnAnswer, refuseUpgrade, type OwnAnswer } from "./own-answer.ts";
import type { ConnectionShares } from "../base/http/connections.ts";
import { headBytes } from "../base/http/request-head.ts";
import type { Socket } from "node:net";

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

interface Forwarding {
  readonly upstream: Upstream;
  readonly outer: OuterOrigin;
  readonly own: OwnCredentials;
  /** Whether nothing can be expected to listen yet. */
  readonly isStarting: boolean;
  /** Aborts when the preview ends. */
  readonly ended: AbortSignal;
}

/** How long a program may take until its answer begins: development servers compile on the first request. */
const programAnswersWithinMs = 120_000;

class LateError extends Error {}

/** How long a program may take to agree to a WebSocket. */
const answerWithinMs = 30_000;
const keepAliveMs = 30_000;

/** A program whose port is shown. */
export interface PreviewTarget {
  /** Whose it is: the connections of all who look at it count for this one. */
  readonly principal: string;
  /** Where the program listens, which may change. */
  port(): number;
  /** @throws when nothing listens */
  connect(signal: AbortSignal): Promise<Duplex>;
  /** Whether it has not answered yet, and may still. */
  isStarting(): boolean;
  /** Whether paths under `/api` are its own as well; default: they are the backend's. */
  readonly ownsApi?: boolean | undefined;
  /** The Host that it is told; default: `localhost` with its port. */
  readonly host?: string | undefined;
  /** The answer where nothing listens; default: ours. */
  readonly unreachable?: OwnAnswer | undefined;
}

/** Where what previews take of a server counts. */
export interface PreviewRoom {
  readonly connections: ConnectionShares;
  /** Counts the bytes of one request and its answer, for the owner of the preview. @throws CAPACITY */
  readonly hold: (principal: string) => { release(): void };
}

interface PreviewGateOptions {
  readonly backend: Upstream | null;
  readonly own: OwnCredentials;
  readonly room: PreviewRoom;
}

/** Requests and WebSockets of one preview in progress at once. */
const maxExchanges = 256;

/** The entrance to one preview, by whichever host it is reached. */
export class PreviewGate {
  readonly #target: PreviewTarget;
  readonly #backend: Upstream | null;
  readonly #own: OwnCredentials;
  readonly #room: PreviewRoom;
  readonly #ended = new AbortController();
  #exchanges = 0;

  constructor(target: PreviewTarget, { backend, own, room }: PreviewGateOptions) {
    this.#target = target;
    this.#backend = backend;
    this.#own = own;
    this.#room = room;
  }

  handle(request: IncomingMessage, response: ServerResponse, outer: OuterOrigin): void {
    const refusal = this.#admit(request, response);
    if (refusal !== null) return sendOwnAnswer(request, response, refusal);
    // It answers everything that it expects.
    forwardRequest(request, response, this.#forwarding(request, outer)).catch(() => response.destroy());
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, outer: OuterOrigin): void {
    const refusal = this.#admit(request, socket);
    if (refusal !== null) return refuseUpgrade(socket, refusal);
    forwardUpgrade(request, { socket, head }, this.#forwarding(request, outer)).catch(() => socket.destroy());
  }

  /** Cuts what is on its way. */
  close(): void {
    this.#ended.abort();
  }

  /** Where its program is at this moment. */
  #program(): Upstream {
    const target = this.#target;
    const { host = `localhost:${target.port()}`, unreachable } = target;
    return { host, isProgram: true, unreachable, connect: (signal) => target.connect(signal) };
  }

  /** Counts a request until what it is answered on closes, or says why it may not come in. */
  #admit(request: IncomingMessage, answered: ServerResponse | Duplex): OwnAnswer | null {
    const refusal = this.#refusal(request);
    if (refusal !== null) return refusal;
    const { principal } = this.#target;
    try {
      this.#room.connections.claim(request.socket, { principal, isPreview: true });
      const held = this.#room.hold(principal);
      answered.once("close", () => held.release());
    } catch {
      return noRoom;
    }
    this.#exchanges += 1;
    answered.once("close", () => (this.#exchanges -= 1));
    return null;
  }

  #refusal(request: IncomingMessage): OwnAnswer | null {
    const { url = "" } = request;
    if (isUnclear(request)) return unclearRequest;
    if (headBytes(request) > maxHeadBytes) return headTooLarge;
    if (this.#own.isShownIn(url)) return shownCredential;
    if (this.#isForBackend(url) && this.#backend === null) return noBackend;
    if (this.#isForBackend(url) && mayLeaveApi(url)) return unclearRequest;
    return this.#exchanges >= maxExchanges ? tooMany : null;
  }

  #isForBackend(url: string): boolean {
    return this.#target.ownsApi !== true && isBackendPath(url);
  }

  #forwarding({ url = "" }: IncomingMessage, outer: OuterOrigin): Forwarding {
    const upstream = this.#backend !== null && this.#isForBackend(url) ? this.#backend : this.#program();
    return { upstream, outer, own: this.#own, isStarting: this.#target.isStarting(), ended: this.#ended.signal };
  }
}

/**
 * Begins the same request on a connection to its program. An answer that is not HTTP, a head that is too large and endless
 * interim answers are an error of what it returns, which ends this one exchange.
 */
function sendInside({ request, connection, headers = [], ...way }: SendInside): ClientRequest {
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

/** Sends a request on and its answer back, piece by piece; whatever either end does ends only this one exchange. */
async function forwardRequest(
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
  const late = setTimeout(() => sent.destroy(new LateError()), programAnswersWithinMs).unref();
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

/** What an error on the program's side means to the browser. */
function answerForError(error: Error): OwnAnswer {
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

/** Sends a WebSocket's handshake on and then carries its bytes both ways as they arrive. */
async function forwardUpgrade(
  request: IncomingMessage,
  { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
  { upstream, outer, own, isStarting, ended }: Forwarding,
): Promise<void> {
  const gone = new AbortController();
  socket.once("close", () => gone.abort());
  socket.on("error", () => gone.abort());
  if (!isWebSocket(request)) return refuseUpgrade(socket, onlyWebSockets);
  const signal = AbortSignal.any([gone.signal, ended]);
  let connection: Duplex;
  try {
    connection = await upstream.connect(signal);
  } catch {
    return refuseUpgrade(socket, unreachable(upstream, isStarting));
  }
  const headers = ["Connection", "Upgrade", "Upgrade", "websocket"];
  const sent = sendInside({ request, connection, upstream, outer, own, headers });
  const endBoth = (): void => {
    sent.destroy();
    connection.destroy();
    socket.destroy();
  };
  if (signal.aborted) return endBoth();
  signal.addEventListener("abort", endBoth, { once: true });
  const late = setTimeout(() => sent.destroy(new Error("late")), answerWithinMs).unref();
  sent.once("close", () => clearTimeout(late));
  let isAnswered = false;
  sent.on("error", (error) => {
    if (!isAnswered) refuseUpgrade(socket, answerForError(error));
  });
  sent.on("response", (answer) => {
    isAnswered = true;
    if (isOddlyFramed(answer)) refuseUpgrade(socket, badAnswer);
    else refuseAs(request, socket, answer, responseHeaders(answer, upstream, outer));
  });
  sent.on("upgrade", (answer, inner, innerHead) => {
    clearTimeout(late);
    // It is no request's any more.
    sent.removeAllListeners("close");
    if ((answer.headers.upgrade ?? "").toLowerCase() !== "websocket") {
      inner.destroy();
      return refuseUpgrade(socket, badAnswer);
    }
    (socket as Partial<Socket>).setKeepAlive?.(true, keepAliveMs);
    (socket as Partial<Socket>).setNoDelay?.(true);
    socket.write(handshake(answer, responseHeaders(answer, upstream, outer)), "latin1");
    if (innerHead.length > 0) socket.write(innerHead);
    if (head.length > 0) inner.write(head);
    join(socket, inner);
  });
  sent.end();
}

function isWebSocket({ method, headers }: IncomingMessage): boolean {
  const isEmpty = headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
  return method === "GET" && isEmpty && (headers.upgrade ?? "").toLowerCase() === "websocket";
}

/** Names and values have passed a parser that lets no line end through. */
function handshake({ statusMessage = "" }: IncomingMessage, headers: readonly string[]): string {
  const lines = pairsOf(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 101 ${statusMessage}`, "Connection: Upgrade", "Upgrade: websocket", ...lines, "", ""].join("\r\n");
}

function join(socket: Duplex, inner: Duplex): void {
  const done = (): void => {
    socket.destroy();
    inner.destroy();
  };
  pipeline(socket, inner, done);
  pipeline(inner, socket, done);
}

/** The program's own refusal. */
function refuseAs(request: IncomingMessage, socket: Duplex, answer: IncomingMessage, headers: readonly string[]): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.sendDate = false;
  response.assignSocket(socket as Socket);
  response.on("finish", () => socket.end());
  try {
    response.writeHead(answer.statusCode ?? 0, answer.statusMessage ?? "", [...headers]);
  } catch {
    answer.destroy();
    return void socket.destroy();
  }
  pipeline(answer, response, (error) => {
    if (error) socket.destroy();
  });
}
