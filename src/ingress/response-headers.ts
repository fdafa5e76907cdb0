import type { IncomingMessage } from "node:http";
import { namedByConnection, pairsOf } from "./raw-headers.ts";
import { originText, type OuterOrigin, type Upstream } from "./upstream.ts";

/** Policies under which a page's address leaves with no request to another origin. */
const safePolicies = new Set(["no-referrer", "same-origin"]);
const policies = new Set([
  ...[...safePolicies, "no-referrer-when-downgrade", "origin", "origin-when-cross-origin"],
  ...["strict-origin", "strict-origin-when-cross-origin", "unsafe-url"],
]);

/**
 * The one referrer policy of an answer, whatever its program asks for: a preview's name opens it, so it leaves with no
 * request. Of several, browsers obey the last that they know; a program may only choose the stricter one.
 * @hostileText Exported for the test that feeds it.
 */
export function referrerPolicy(asked: string | undefined): string {
  const known = (asked ?? "")
    .split(",")
    .map((text) => text.trim().toLowerCase())
    .filter((text) => policies.has(text));
  const last = known.at(-1);
  return last !== undefined && safePolicies.has(last) ? last : "same-origin";
}

/** Headers that have a browser report a page's address to other origins, also after the preview has ended. */
const reportingHeaders: readonly string[] = ["nel", "report-to", "reporting-endpoints"];

/**
 * A content policy without the addresses of other origins that its reports, which name the page, would go to.
 * @hostileText Exported for the test that feeds it.
 */
export function withoutForeignReports(policy: string): string {
  return policy.replaceAll(/(^|[;,])(\s*report-uri\s[^;,]*)/gi, (_, before: string, directive: string) =>
    /\s(?:[a-z][a-z0-9+.-]*:|[\\/]{2})/i.test(directive) ? before : `${before}${directive}`,
  );
}

/** Headers of one connection only, a way past the proxy, or of a policy that we set ourselves. */
const dropped = new Set([
  ...["connection", "keep-alive", "proxy-connection", "proxy-authenticate", "te", "trailer", "transfer-encoding"],
  ...["upgrade", "alt-svc", "referrer-policy", "content-length", ...reportingHeaders],
]);

/** Hosts by which a program refers to itself in redirects. */
const ownNames = new Set(["localhost", "127.0.0.1", "[::1]", "0.0.0.0", "[::]"]);

type Way = Pick<Upstream, "host" | "isProgram">;

/**
 * Headers of an answer as the browser gets them: as the program says, byte by byte, but for redirects to itself, which lead
 * to the preview, cookies, which stay with this one preview, and what would tell others its name. Flat: name, value, name,
 * value.
 */
export function responseHeaders(
  { rawHeaders, headers, statusCode }: Pick<IncomingMessage, "rawHeaders" | "headers" | "statusCode">,
  upstream: Way,
  outer: OuterOrigin,
): string[] {
  const ofConnection = namedByConnection(headers.connection);
  const kept = pairsOf(rawHeaders).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (dropped.has(lower) || ofConnection.has(lower)) return [];
    if (lower === "set-cookie") return [name, withoutDomain(value)];
    if (lower === "location") return [name, outside(value, upstream, outer)];
    if (lower.startsWith("content-security-policy")) return [name, withoutForeignReports(value)];
    return [name, value];
  });
  const policy = ["Referrer-Policy", referrerPolicy(policyAskedBy(rawHeaders))];
  // Last: Node encodes a Content-Disposition that follows a length anew.
  return [...kept, ...policy, ...(statusCode === 204 ? [] : lengthOf(rawHeaders))];
}

function policyAskedBy(rawHeaders: readonly string[]): string {
  const asked = pairsOf(rawHeaders).filter(([name]) => name.toLowerCase() === "referrer-policy");
  return asked.map(([, value]) => value).join(",");
}

/** It decides where the answer ends: a program cannot have it dropped as one of the connection's. */
function lengthOf(rawHeaders: readonly string[]): readonly string[] {
  return pairsOf(rawHeaders).find(([name]) => name.toLowerCase() === "content-length") ?? [];
}

/** A cookie for this host alone: a domain would be that of other previews too. */
function withoutDomain(cookie: string): string {
  return cookie
    .split(";")
    .filter((part, index) => index === 0 || !/^\s*domain\s*(?:=|$)/i.test(part))
    .join(";");
}

/** With or without a scheme (`//host/path`), as browsers read it; what follows the host keeps its bytes. */
function outside(location: string, { host, isProgram }: Way, outer: OuterOrigin): string {
  const [, scheme = "http:", authority = "", rest = ""] = /^(https?:)?[\\/]{2}([^\\/?#]*)(.*)$/i.exec(location) ?? [];
  const url = authority === "" ? null : URL.parse(`${scheme}//${authority}`);
  const inner = URL.parse(`http://${host}`);
  if (url === null || inner === null) return location;
  const isOwn = isProgram ? ownNames.has(url.hostname) && portOf(url) === portOf(inner) : url.host === host;
  return isOwn ? `${originText(outer)}${/^[\\/]/.test(rest) ? "" : "/"}${rest}` : location;
}

function portOf({ protocol, port }: URL): number {
  return Number(port) || (protocol === "https:" ? 443 : 80);
}
