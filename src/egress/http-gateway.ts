import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { denial, type Denial } from "../policy/network/denial.ts";
import { denyAuthority } from "../policy/network/egress-policy.ts";
import { parseAuthority, type HostAndPort } from "../policy/network/host-and-port.ts";
import type { Dialled } from "./dial.ts";
import { forwardRequest } from "./forward-request.ts";
import { refusalText } from "./refusal-text.ts";
import { openTunnel } from "./tunnel.ts";

export interface GatewayOptions {
  readonly dial: (target: HostAndPort) => Promise<Dialled>;
  readonly onDenied: (denial: Denial) => void;
}

/** Header of an ordinary request: 2 KiB; with cookies some more. */
const mostHeaderBytes = 32_768;

/**
 * The HTTP side of the proxy for one sandbox, to be fed connections: absolute requests for http, CONNECT for TLS.
 * With `target` every request is one for that target, as within a tunnel that carries plain HTTP.
 */
export function createGateway(options: GatewayOptions, target?: HostAndPort): Server {
  const server = createServer({ maxHeaderSize: mostHeaderBytes, insecureHTTPParser: false });
  server.on("request", (request, response) => {
    void handleRequest(request, response, { ...options, target });
  });
  server.on("connect", (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    if (head.length > 0) stream.unshift(head);
    void handleConnect(request, stream, options);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, stream) => {
    if (error.code === "ECONNRESET" || !stream.writable) {
      stream.destroy();
      return;
    }
    const denied = denial("protocol", "(unreadable)", "What was sent is not an HTTP request.", "Send plain HTTP/1.1.");
    options.onDenied(denied);
    refuse(stream, 400, refusalText(denied));
  });
  return server;
}

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { dial, onDenied, target: fixed }: GatewayOptions & { readonly target: HostAndPort | undefined },
): Promise<void> {
  const target = fixed === undefined ? absoluteTarget(request.url ?? "") : ownTarget(fixed, request.url ?? "");
  const dialled: Dialled = "rule" in target ? { denied: target } : await dial(target);
  if ("denied" in dialled) onDenied(dialled.denied);
  if (!("socket" in dialled) || "rule" in target) {
    const isDenied = "denied" in dialled;
    const text = isDenied ? refusalText(dialled.denied) : `Glovebox: ${"failed" in dialled ? dialled.failed : ""}\n`;
    response.writeHead(isDenied ? 403 : 502, { "content-type": "text/plain; charset=utf-8", connection: "close" });
    response.end(text);
    return;
  }
  forwardRequest({ request, response, socket: dialled.socket, target, path: target.path });
}

async function handleConnect(request: IncomingMessage, stream: Duplex, options: GatewayOptions): Promise<void> {
  const authority = request.url ?? "";
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
  return denial("protocol", url, "Within a tunnel only requests for its own host are served.", "Ask the proxy anew.");
}
