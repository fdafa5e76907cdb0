import type { IncomingMessage } from "node:http";
import { originText, type OuterOrigin, type Upstream } from "./upstream.ts";
import type { OwnCredentials } from "./own-credentials.ts";
import { namedByConnection, pairsOf } from "./raw-headers.ts";

/** Headers of one connection only, or that we set ourselves. */
const dropped = new Set([
  ...["connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer", "transfer-encoding"],
  ...["upgrade", "http2-settings", "expect", "host", "content-length", "forwarded", "x-real-ip"],
]);

/** How every API key begins where it is expected, even if it is not a valid one. */
const ownKey = /^\S+\s+gbx_/i;

export interface RequestWay {
  readonly upstream: Pick<Upstream, "host" | "isProgram">;
  readonly outer: OuterOrigin;
  readonly own: OwnCredentials;
}

/**
 * Headers of a request as its program gets them: from `localhost` and its own port, as the checks of development servers
 * want it, framed as it came, and without what is ours. Other values keep their bytes. Flat: name, value, name, value.
 */
export function requestHeaders(
  { rawHeaders, headers }: Pick<IncomingMessage, "rawHeaders" | "headers">,
  way: RequestWay,
): string[] {
  const ofConnection = namedByConnection(headers.connection);
  const kept = pairsOf(rawHeaders).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (dropped.has(lower) || ofConnection.has(lower) || lower.startsWith("x-forwarded-")) return [];
    if ((lower === "authorization" && ownKey.test(value)) || way.own.isShownIn(value)) return [];
    const told = lower === "origin" ? originFor(value, way) : lower === "referer" ? refererFor(value, way) : value;
    return told === null ? [] : [name, told];
  });
  return ["Host", way.upstream.host, ...kept, ...framing(headers)];
}

/** Whether a request has a body that must be sent on. */
export function hasBody({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return framing(headers).length > 0;
}

/** Its own origin is the program's, and the backend's to know; another preview's is nobody's; others are for them to refuse. */
function originFor(value: string, { upstream, outer, own }: RequestWay): string {
  if (value === originText(outer)) return upstream.isProgram ? `http://${upstream.host}` : value;
  return own.isPreview(authorityOf(value)) ? "null" : value;
}

/** Without the name of a preview, which alone opens it: logs keep this header. */
function refererFor(value: string, { upstream, outer, own }: RequestWay): string | null {
  const origin = originText(outer);
  const isOwn = value === origin || value.startsWith(`${origin}/`);
  if (isOwn && upstream.isProgram) return `http://${upstream.host}${value.slice(origin.length)}`;
  return own.isPreview(authorityOf(value)) ? null : value;
}

/** Host and port of a URL; empty for other texts. */
function authorityOf(url: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?([^/?#@]*)/i.exec(url)?.[1] ?? "";
}

/** One of the two: Node's parser has refused a request with both. */
function framing(headers: IncomingMessage["headers"]): readonly string[] {
  if (headers["transfer-encoding"] !== undefined) return ["Transfer-Encoding", "chunked"];
  const { "content-length": length } = headers;
  return length === undefined ? [] : ["Content-Length", length];
}
