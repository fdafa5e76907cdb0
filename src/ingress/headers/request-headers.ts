import type { IncomingMessage } from "node:http";
import { originText, type OuterOrigin, type Upstream } from "../upstream.ts";
import { namedByConnection, pairsOf } from "./raw-headers.ts";

/** Headers of one connection only, or that we set ourselves. */
const dropped = new Set([
  ...["connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer", "transfer-encoding"],
  ...["upgrade", "http2-settings", "expect", "host", "content-length", "forwarded", "x-real-ip"],
]);

/** How all of our API keys begin: none may reach a program, whoever sends it by mistake. */
const ownKey = /^bearer +gbx_/i;

/**
 * Headers of a request as its program gets them: from `localhost` and its own port, as the checks of development servers
 * want it, and framed as it came. Flat: name, value, name, value.
 */
export function requestHeaders(
  { rawHeaders, headers }: Pick<IncomingMessage, "rawHeaders" | "headers">,
  upstream: Pick<Upstream, "host" | "isProgram">,
  outer: OuterOrigin,
): string[] {
  const ofConnection = namedByConnection(headers.connection);
  const kept = pairsOf(rawHeaders).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (dropped.has(lower) || ofConnection.has(lower) || lower.startsWith("x-forwarded-")) return [];
    if (lower === "authorization" && ownKey.test(value)) return [];
    return [name, upstream.isProgram ? inside(lower, value, upstream, outer) : value];
  });
  return ["Host", upstream.host, ...kept, ...framing(headers)];
}

/** Whether a request has a body that must be sent on. */
export function hasBody({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return framing(headers).length > 0;
}

/** Its own origin is the program's; others stay, for the program to refuse. */
function inside(name: string, value: string, { host }: Pick<Upstream, "host">, outer: OuterOrigin): string {
  const own = originText(outer);
  if (name === "origin") return value === own ? `http://${host}` : value;
  if (name !== "referer") return value;
  return value === own || value.startsWith(`${own}/`) ? `http://${host}${value.slice(own.length)}` : value;
}

/** One of the two: Node's parser has refused a request with both. */
function framing(headers: IncomingMessage["headers"]): readonly string[] {
  if (headers["transfer-encoding"] !== undefined) return ["Transfer-Encoding", "chunked"];
  const { "content-length": length } = headers;
  return length === undefined ? [] : ["Content-Length", length];
}
