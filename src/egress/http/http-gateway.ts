import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { denial, type Denial } from "../../policy/network/denial.ts";
import { denyAuthority } from "../../policy/network/egress-policy.ts";
import { parseAuthority, type HostAndPort } from "../../policy/network/host-and-port.ts";
import type { Dialled } from "../proxy/dial.ts";
import { forwardRequest } from "./forward-request.ts";
import { maxHeadBytes, readHead, valuesOf, type MessageHead } from "./message-head.ts";
import { openTunnel } from "./tunnel.ts";
import { Turns } from "./turns.ts";

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
