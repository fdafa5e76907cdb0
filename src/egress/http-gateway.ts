import {
  createServer,
  request as httpRequest,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  type ClientRequest,
} from "node:http";
import { pipeline, type Duplex } from "node:stream";
import { denial, type Denial } from "../policy/network/denial.ts";
import { denyAuthority } from "../policy/network/egress-policy.ts";
import { parseAuthority, formatHostAndPort, canonicalName, type HostAndPort } from "../policy/network/domain-names.ts";
import type { Dialled } from "./proxy/dial.ts";
import {
  maxHeadBytes,
  readHead,
  valuesOf,
  flatten,
  framingFields,
  lineText,
  type MessageHead,
  readClientHello,
} from "./message-head.ts";
import type { Socket } from "node:net";

export interface GatewayOptions {
  readonly dial: (target: HostAndPort) => Promise<Dialled>;
  readonly onDenied: (denial: Denial) => void;
}

/**
 * The HTTP side of the proxy for one sandbox, which gets its connections: absolute requests for http, CONNECT for TLS.
 * With `fixed`, every request goes to that target, as in a tunnel that carries plain HTTP.
 *
 * An error of a connection ends that connection.
 */
export function createGateway(options: GatewayOptions, fixed?: HostAndPort): Server {
  const server = createServer({ maxHeaderSize: maxHeadBytes, insecureHTTPParser: false });
  // All of them, so that none escapes the check.
  server.maxHeadersCount = 0;
  const turns = new Turns();
  server.on("request", (request, response) => {
    turns.take(request.socket, response, () => handleRequest(request, response, { ...options, fixed }));
  });
  server.on("connect", (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    if (head.length > 0) stream.unshift(head);
    handleConnect(request, stream, { ...options, fixed }).catch(() => stream.destroy());
  });
  server.on("clientError", (error: NodeJS.ErrnoException, stream) => {
    if (error.code === "ECONNRESET" || !stream.writable) return void stream.destroy();
    if (turns.isTaken(stream)) return turns.endSoon(stream);
    refuseUnreadable(stream, options, "(unreadable)", "What was sent is not an HTTP request.");
  });
  return server;
}

type Handling = GatewayOptions & { readonly fixed: HostAndPort | undefined };

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { dial, onDenied, fixed }: Handling,
): Promise<void> {
  const head = headOf(request);
  if (typeof head === "string") {
    const denied = unreadable(request.url ?? "", `The head of the request ${head}.`);
    onDenied(denied);
    return answer(response, 400, refusalText(denied));
  }
  const target = fixed === undefined ? absoluteTarget(request.url ?? "") : ownTarget(fixed, request.url ?? "");
  const dialled: Dialled = "rule" in target ? { denied: target } : await dial(target);
  if ("denied" in dialled) {
    onDenied(dialled.denied);
    answer(response, 403, refusalText(dialled.denied));
  } else if ("failed" in dialled) answer(response, 502, `Glovebox: ${dialled.failed}\n`);
  else if (!("rule" in target)) {
    const { socket } = dialled;
    try {
      forwardRequest({ request, response, head, socket, target, path: target.path });
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }
}

async function handleConnect(request: IncomingMessage, stream: Duplex, options: Handling): Promise<void> {
  const authority = request.url ?? "";
  const head = headOf(request);
  if (typeof head === "string") {
    return refuseUnreadable(stream, options, authority, `The head of the request ${head}.`);
  }
  if (options.fixed !== undefined || head.framing.kind !== "none") {
    const what = options.fixed === undefined ? "with a body is not served" : "within a tunnel is not served";
    return refuseUnreadable(stream, options, authority, `CONNECT ${what}.`);
  }
  const target = parseAuthority(authority, null);
  const dialled: Dialled =
    typeof target === "string" ? { denied: denyAuthority(target, authority) } : await options.dial(target);
  if ("denied" in dialled) {
    options.onDenied(dialled.denied);
    refuse(stream, 403, refusalText(dialled.denied));
  } else if ("failed" in dialled) refuse(stream, 502, `Glovebox: ${dialled.failed}\n`);
  else if (typeof target !== "string") {
    const plain = (): void => void createGateway(options, target).emit("connection", stream);
    openTunnel({ stream, socket: dialled.socket, target, onDenied: options.onDenied, onPlain: plain });
  }
}

/** The head of a request, or an error. */
function headOf({ rawHeaders, httpVersion, url = "" }: IncomingMessage): MessageHead | string {
  const head = readHead(rawHeaders, httpVersion);
  if (typeof head === "string") return head;
  if (valuesOf(head.fields, "host").length > 1) return "names several hosts";
  return /^[\x21-\x7e\x80-\xff]*$/.test(url) ? head : "has a target with a control character or a space";
}

function refuseUnreadable(stream: Duplex, { onDenied }: GatewayOptions, target: string, reason: string): void {
  const denied = unreadable(target, reason);
  onDenied(denied);
  refuse(stream, 400, refusalText(denied));
}

function unreadable(target: string, reason: string): Denial {
  return denial("protocol", target, reason, "Send unambiguous HTTP/1.1.");
}

function answer(response: ServerResponse, status: 400 | 403 | 502, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" });
  response.end(text);
}

function refuse(stream: Duplex, status: 400 | 403 | 502, text: string): void {
  const words = { 400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway" };
  const head = [
    `HTTP/1.1 ${status} ${words[status]}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ];
  stream.end(`${head.join("\r\n")}\r\n\r\n${text}`);
  stream.resume();
}

type Target = HostAndPort & { readonly path: string };

function absoluteTarget(url: string): Target | Denial {
  const found = /^http:\/\/([^/?#]*)([^#]*)/i.exec(url);
  const [, authority = "", rest = ""] = found ?? [];
  if (found === null || authority.includes("@")) {
    return denial(
      "protocol",
      url,
      "Only absolute http:// requests and CONNECT are served.",
      "Use the proxy as a proxy.",
    );
  }
  const target = parseAuthority(authority, 80);
  if (typeof target === "string") return denyAuthority(target, authority);
  return { ...target, path: rest.startsWith("/") ? rest : `/${rest}` };
}

function ownTarget(target: HostAndPort, url: string): Target | Denial {
  if (url.startsWith("/") || url === "*") return { ...target, path: url };
  return denial(
    "protocol",
    url,
    "Within a tunnel only requests for its own host are served.",
    "Use a new proxy connection.",
  );
}

/** The response body for a refused program. */
function refusalText({ target, rule, reason, remedy }: Denial): string {
  return `Glovebox refused the connection to ${target}.\nRule: ${rule}. ${reason}\n${remedy}\n`;
}

interface TunnelOptions {
  readonly stream: Duplex;
  /** A fresh connection to the target. */
  readonly socket: Socket;
  readonly target: HostAndPort;
  readonly onDenied: (denial: Denial) => void;
  /** Takes over the stream if the tunnel carries plain HTTP, as some clients send that through CONNECT too. */
  readonly onPlain: () => void;
}

const helloMs = 20_000;
/** Maximum pieces of a hello: each makes us parse it again from the start. */
const maxPieces = 256;
/** A fatal alert of TLS: unrecognized_name. */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112]);
const tlsHandshake = 22;

/** Confirms the tunnel, and opens it once the client's TLS hello names the target. */
function openTunnel({ stream, socket, target, onDenied, onPlain }: TunnelOptions): void {
  if (stream.destroyed) return void socket.destroy();
  let hello: Buffer = Buffer.alloc(0);
  let pieces = 0;
  const giveUp = (): void => {
    stream.destroy();
    socket.destroy();
  };
  const timer = setTimeout(giveUp, helloMs);
  const settle = (): void => {
    clearTimeout(timer);
    stream.off("data", onData).off("end", giveUp).off("close", giveUp).pause();
    socket.off("close", giveUp);
  };
  const onData = (bytes: Buffer): void => {
    if (++pieces > maxPieces) return giveUp();
    hello = Buffer.concat([hello, bytes]);
    if (hello[0] !== tlsHandshake) {
      settle();
      socket.destroy();
      stream.unshift(hello);
      onPlain();
      return void stream.resume();
    }
    const read = readClientHello(hello);
    if (read.kind === "incomplete") return;
    settle();
    const serverName = read.kind === "hello" ? read.serverName : null;
    if (serverName === target.name) {
      socket.write(hello);
      pipeline(stream, socket, stop);
      pipeline(socket, stream, stop);
      return;
    }
    onDenied(
      denial(
        "server_name",
        formatHostAndPort(target),
        `The TLS connection to ${target.name} asks for ${shown(serverName)} in its hello.`,
        "Connect by the server's own name and send it (SNI).",
      ),
    );
    socket.destroy();
    stream.end(unrecognizedName);
  };
  stream.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  stream.on("data", onData).once("end", giveUp).once("close", giveUp);
  socket.once("close", giveUp);
}

/** A hello may contain any bytes as a name. */
function shown(serverName: string | null): string {
  return serverName === null ? "no server" : (canonicalName(serverName) ?? "something that is no name");
}

function stop(): void {
  // Closing one end closes the other; any error is up to the two ends.
}

interface ForwardedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Of the request. */
  readonly head: MessageHead;
  /** A fresh connection to the target. */
  readonly socket: Socket;
  readonly target: HostAndPort;
  readonly path: string;
}

/** Fields that the proxy writes, or has answered itself. */
const own = new Set(["host", "expect"]);
/** How long a server may take to send the complete head of its response, once it has the request. */
const answerMs = 300_000;
/** Maximum interim responses before the final one. */
const maxInterim = 8;

/**
 * Forwards a request to its target, with the target's own name and new framing, and returns the response. If a server
 * violates HTTP, its client gets a 502 or a broken connection.
 */
function forwardRequest({ request, response, head, socket, target, path }: ForwardedRequest): void {
  if (response.destroyed || request.destroyed) return void socket.destroy();
  const host = target.port === 80 ? target.name : `${target.name}:${target.port}`;
  const fields = head.fields.filter(([name]) => !own.has(name.toLowerCase()));
  const upstream = httpRequest({
    createConnection: () => socket,
    method: request.method ?? "GET",
    path,
    headers: flatten([["Host", host]], fields, framingFields(head.framing)),
    maxHeaderSize: maxHeadBytes,
    insecureHTTPParser: false,
  });
  upstream.maxHeadersCount = 0;
  let isFailed = false;
  const fail = (what: string): void => {
    if (isFailed) return;
    isFailed = true;
    upstream.destroy();
    socket.destroy();
    if (response.headersSent) return void response.destroy();
    response.writeHead(502, { "content-type": "text/plain; charset=utf-8", connection: "close" });
    response.end(`Glovebox: ${target.name} ${what}.\n`);
  };
  let timer: NodeJS.Timeout | undefined;
  upstream.once("finish", () => {
    timer = setTimeout(fail, answerMs, "did not answer in time");
  });
  let isAnswered = false;
  upstream.once("response", (answer) => {
    isAnswered = true;
    clearTimeout(timer);
    try {
      const read = readAnswer(answer, request.method ?? "GET");
      if (typeof read === "string") return fail(`gave an answer that is not HTTP: it ${read}`);
      response.writeHead(read.status, read.reason, flatten(read.fields, framingOf(read, request)));
      pipeline(answer, response, () => socket.destroy());
    } catch {
      fail("gave an answer that cannot be passed on");
    }
  });
  refuseInterim(upstream, fail);
  upstream.on("error", () => {
    // Errors after the head are reported by the response's own stream.
    if (!isAnswered) fail("broke the connection off, or gave an answer that is not HTTP");
  });
  response.once("close", () => {
    clearTimeout(timer);
    request.unpipe(upstream);
    upstream.destroy();
    socket.destroy();
  });
  if (head.framing.kind === "none") return void upstream.end();
  // A truncated body must not end normally at the other end.
  request.once("close", () => {
    if (!request.complete) upstream.destroy();
  });
  request.pipe(upstream);
}

/** Node uses chunked encoding if there is no length, except for clients that do not support it. */
function framingOf({ framing }: MessageHead, request: IncomingMessage): ReturnType<typeof framingFields> {
  return framing.kind === "chunked" && request.httpVersion === "1.0" ? [] : framingFields(framing);
}

/**
 * Drops the few interim responses that may precede the final one; a server that sends many, or switches protocols, is
 * cut off.
 */
function refuseInterim(upstream: ClientRequest, fail: (what: string) => void): void {
  let interim = 0;
  const count = (): void => {
    if (++interim > maxInterim) fail("announces an answer again and again");
  };
  upstream.on("continue", count);
  upstream.on("information", ({ statusCode }) => {
    if (statusCode !== 100) count();
  });
  upstream.once("upgrade", (_, socket) => {
    socket.destroy();
    fail("changes the protocol, which nobody asked for");
  });
}

/** The parts of a response's head that are passed on. */
interface AnswerHead extends MessageHead {
  readonly status: number;
  readonly reason: string;
}

const printable = /^[\t\x20-\x7e]*$/;

/**
 * The head of a server's response to a request with this method, or what is wrong with it, as a phrase that follows
 * "it". So far only a parser has accepted it.
 */
function readAnswer(answer: IncomingMessage, method: string): AnswerHead | string {
  const { statusCode: status = 0, statusMessage: reason = "", rawHeaders, httpVersion } = answer;
  if (!Number.isInteger(status) || status < 200 || status > 599) return "has a status that is none";
  if (!lineText.test(reason)) return "has a control character in its reason";
  const head = readHead(rawHeaders, httpVersion);
  if (typeof head === "string") return head;
  return {
    status,
    // Reason phrases beyond ASCII have no defined encoding.
    reason: printable.test(reason) ? reason : (STATUS_CODES[status] ?? ""),
    fields: head.fields,
    framing: hasNoBody(status, method, head) ? { kind: "none" } : head.framing,
  };
}

/** Responses to HEAD, and 304 responses, state the length of a body that they leave out. */
function hasNoBody(status: number, method: string, { framing }: MessageHead): boolean {
  return status === 204 || ((method === "HEAD" || status === 304) && framing.kind === "chunked");
}

/** Maximum pipelined requests; hardly any client sends a second one. */
const maxWaiting = 8;
/** How long a client gets to read an error before its connection is closed. */
const lastWordsMs = 1_000;

/**
 * Handles the requests of one connection one after another, even if they were pipelined: each may take a connection to
 * a server. A client that sends too many, or whose request fails, loses its connection.
 */
class Turns {
  readonly #last = new WeakMap<Duplex, { readonly done: Promise<void>; waiting: number }>();
  readonly #ending = new WeakSet<Duplex>();

  /** Whether a request is being handled. */
  isTaken(stream: Duplex): boolean {
    return (this.#last.get(stream)?.waiting ?? 0) > 0;
  }

  /** Ends the connection once the current response has had its time; whatever follows on it is ignored. */
  endSoon(stream: Duplex): void {
    if (this.#ending.has(stream)) return;
    this.#ending.add(stream);
    setTimeout(() => stream.destroy(), lastWordsMs);
  }

  take(stream: Duplex, response: ServerResponse, handle: () => Promise<void>): void {
    const before = this.#last.get(stream);
    const waiting = (before?.waiting ?? 0) + 1;
    if (waiting > maxWaiting) return void stream.destroy();
    const turn = { done: this.#handle(before?.done, stream, { response, handle }), waiting };
    this.#last.set(stream, turn);
    void turn.done.then(() => {
      const last = this.#last.get(stream);
      if (last !== undefined) last.waiting--;
    });
  }

  async #handle(
    before: Promise<void> | undefined,
    stream: Duplex,
    { response, handle }: { readonly response: ServerResponse; readonly handle: () => Promise<void> },
  ): Promise<void> {
    await before;
    // The previous response may have been the last.
    if (stream.destroyed || stream.writableEnded) return;
    const over = Promise.withResolvers<void>();
    response.once("close", over.resolve);
    stream.once("close", over.resolve);
    try {
      await handle();
      await over.promise;
    } catch {
      stream.destroy();
    } finally {
      stream.off("close", over.resolve);
    }
  }
}
