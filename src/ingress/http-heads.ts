import { kibibyte } from "../base/bytes.ts";
import type { IncomingMessage } from "node:http";
import { originText, type OuterOrigin, type Upstream } from "./upstream.ts";
import type { OwnCredentials } from "./own-credentials.ts";
import { hostCount } from "../base/http/request-head.ts";

/** Largest head in bytes of a request to a preview, and of its program's answer: four times what servers usually take. */
export const maxHeadBytes: number = 64 * kibibyte;

/** Name and value of each header, in their order. */
export function pairsOf(rawHeaders: readonly string[]): readonly (readonly [string, string])[] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
    rawHeaders[index * 2] ?? "",
    rawHeaders[index * 2 + 1] ?? "",
  ]);
}

/** Headers of one connection only, or that we set ourselves. */
const droppedOfRequests = new Set([
  ...["connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer", "transfer-encoding"],
  ...["upgrade", "http2-settings", "expect", "host", "content-length", "forwarded", "x-real-ip"],
]);

/** How every API key begins where it is expected, even if it is not a valid one. */
const ownKey = /^\S+\s+gbx_/i;

interface RequestWay {
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
    if (droppedOfRequests.has(lower) || ofConnection.has(lower) || lower.startsWith("x-forwarded-")) return [];
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
const droppedOfAnswers = new Set([
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
    if (droppedOfAnswers.has(lower) || ofConnection.has(lower)) return [];
    if (lower === "set-cookie") return [name, withoutDomain(value)];
    if (lower === "location") return [name, outside(value, upstream, outer)];
    if (lower.startsWith("content-security-policy")) return [name, withoutForeignReports(value)];
    return [name, value];
  });
  const policy = ["Referrer-Policy", referrerPolicy(policyAskedBy(rawHeaders))];
  // Last: Node encodes a Content-Disposition that follows a length anew.
  return [...kept, ...policy, ...(statusCode === 204 ? [] : lengthOf(rawHeaders))];
}

/** Whether two readers could understand a request line, its Host or its framing differently. */
export function isUnclear({ url = "", rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  if (!url.startsWith("/") || hostCount({ rawHeaders }) !== 1) return true;
  const isOld = httpVersion !== "1.1" && headers["transfer-encoding"] !== undefined;
  return isOld || isOddlyFramed({ headers });
}

/**
 * Whether a body is coded in another way than in chunks: two readers could see its end in different places. Node's parser has
 * refused one that has a length besides.
 */
export function isOddlyFramed({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const encoding = headers["transfer-encoding"];
  return encoding !== undefined && encoding.toLowerCase() !== "chunked";
}

/**
 * Headers that a `Connection` header makes those of one connection only, in lower case.
 * @hostileText Exported for the test that feeds it.
 */
export function namedByConnection(connection: string | undefined): ReadonlySet<string> {
  return new Set((connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
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
