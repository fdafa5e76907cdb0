import { request as httpRequest, type ClientRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import type { HostAndPort } from "../../policy/network/host-and-port.ts";
import { readAnswer } from "./answer-head.ts";
import { flatten, framingFields, maxHeadBytes, type MessageHead } from "./message-head.ts";

export interface ForwardedRequest {
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
export function forwardRequest({ request, response, head, socket, target, path }: ForwardedRequest): void {
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
