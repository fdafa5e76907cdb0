import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import type { HostAndPort } from "../policy/network/host-and-port.ts";

export interface ForwardedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** A fresh connection to the target. */
  readonly socket: Socket;
  readonly target: HostAndPort;
  readonly path: string;
}

/** Of one connection only (RFC 9110, 7.6.1), or for the proxy itself. */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Sends a request on to its target, under the target's own name, and the answer back. */
export function forwardRequest({ request, response, socket, target, path }: ForwardedRequest): void {
  const host = target.port === 80 ? target.name : `${target.name}:${target.port}`;
  // A body whose length nobody named goes on as it came, in chunks.
  const isChunked = request.headers["transfer-encoding"] !== undefined;
  const upstream = httpRequest({
    createConnection: () => socket,
    method: request.method ?? "GET",
    path,
    headers: [
      ...["Host", host],
      ...endToEnd(request.rawHeaders, ["host"]),
      ...(isChunked ? ["Transfer-Encoding", "chunked"] : []),
    ],
  });
  upstream.once("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders));
    pipeline(answer, response, () => socket.destroy());
  });
  upstream.on("error", () => {
    if (response.headersSent) return void response.destroy();
    response.writeHead(502, { "content-type": "text/plain; charset=utf-8", connection: "close" });
    response.end(`Glovebox: ${target.name} broke the connection off.\n`);
  });
  response.once("close", () => upstream.destroy());
  pipeline(request, upstream, () => {
    // Its errors are told above.
  });
}

/** Header fields that concern the two ends. */
function endToEnd(rawHeaders: readonly string[], without: readonly string[] = []): string[] {
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""] as const] : [],
  );
  const named = pairs.filter(([name]) => name.toLowerCase() === "connection").flatMap(([, value]) => value.split(","));
  const dropped = new Set([...hopByHop, ...without, ...named.map((name) => name.trim().toLowerCase())]);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}
