import type { IncomingMessage } from "node:http";
import { namedByConnection, pairsOf } from "./raw-headers.ts";
import { originText, type OuterOrigin, type Upstream } from "../upstream.ts";

/** Headers of one connection only, or a way past the proxy. */
const dropped = new Set([
  ...["connection", "keep-alive", "proxy-connection", "proxy-authenticate", "te", "trailer", "transfer-encoding"],
  ...["upgrade", "alt-svc"],
]);

/** Hosts by which a program refers to itself in redirects. */
const ownNames = new Set(["localhost", "127.0.0.1", "[::1]", "0.0.0.0", "[::]"]);

/**
 * Headers of an answer as the browser gets them: as the program says, but for redirects to itself, which lead to the
 * preview, and cookies, which stay with this one preview. Flat: name, value, name, value.
 */
export function responseHeaders(
  { rawHeaders, headers }: Pick<IncomingMessage, "rawHeaders" | "headers">,
  upstream: Pick<Upstream, "host" | "isProgram">,
  outer: OuterOrigin,
): string[] {
  const ofConnection = namedByConnection(headers.connection);
  return pairsOf(rawHeaders).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    // A length decides where the answer ends: a program cannot have it dropped.
    if (dropped.has(lower) || (ofConnection.has(lower) && lower !== "content-length")) return [];
    if (lower === "set-cookie") return [name, withoutDomain(value)];
    if (lower === "location") return [name, outside(value, upstream, outer)];
    return [name, value];
  });
}

/** A cookie for this host alone: a domain would be that of other previews too. */
function withoutDomain(cookie: string): string {
  return cookie
    .split(";")
    .filter((part, index) => index === 0 || !/^\s*domain\s*(?:=|$)/i.test(part))
    .join(";");
}

function outside(
  location: string,
  { host, isProgram }: Pick<Upstream, "host" | "isProgram">,
  outer: OuterOrigin,
): string {
  const url = URL.parse(location);
  if (url === null || !/^https?:\/\//i.test(location)) return location;
  const inner = URL.parse(`http://${host}`);
  const isOwn = isProgram ? ownNames.has(url.hostname) && url.port === inner?.port : url.host === host;
  return isOwn ? `${originText(outer)}${url.pathname}${url.search}${url.hash}` : location;
}
