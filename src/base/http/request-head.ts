import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

type Head = Pick<IncomingMessage, "method" | "url" | "rawHeaders">;

/** Size of a request's head in bytes, with one line for each header, as it was sent. */
export function headBytes({ method = "", url = "", rawHeaders }: Head): number {
  const line = `${method} ${url} HTTP/1.1\r\n`.length;
  // Two characters between a name and its value, two behind that, and two at the end.
  return rawHeaders.reduce((sum, text) => sum + text.length + 2, line + 2);
}

/** How many Host headers a request has: two readers could choose different ones of several. */
export function hostCount({ rawHeaders }: Pick<Head, "rawHeaders">): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "host").length;
}

/** What a guard looks at before anything else of a request. */
export interface RequestHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly authorization?: string | undefined;
  readonly "content-encoding"?: string | undefined;
}

/** A request as Node's server gives it. */
export interface JudgedRequest {
  readonly headers: RequestHeaders;
  /** Name, value, name, value, as they were sent. */
  readonly rawHeaders: string[];
}

export interface GuardRules {
  /** Whether only names and addresses of loopback are the server's own; otherwise any address is. */
  readonly loopbackOnly: boolean;
  /** Further names that the server is reached by, in lower case and without ports. */
  readonly allowedHosts: readonly string[];
  /** Origins of web pages that may call, such as `https://app.example`. */
  readonly allowedOrigins: readonly string[];
}

/** Why a request is refused before anyone asks what it wants. */
export interface GuardRefusal {
  readonly status: 400 | 401 | 403 | 415;
  readonly errorType: "INVALID_REQUEST" | "PERMISSION_DENIED";
  readonly message: string;
  readonly suggestion: string;
}

const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Refuses requests that a foreign web page makes a browser send (SPEC API2): a `Host` that is not this server's own (DNS
 * rebinding needs a name, so any address passes beyond loopback), several of them, and an `Origin` that is neither the server
 * itself, whose only page is the console, nor allowed; and those with a compressed body, which
 * nothing here unpacks. Null: it may pass.
 */
export function judgeRequest(request: JudgedRequest, rules: GuardRules): GuardRefusal | null {
  const { host = "", origin } = request.headers;
  if (hostCount(request) > 1) return twoHosts;
  if (!isOwnHost(hostName(host), rules)) return foreignHost;
  const isAllowed = origin === undefined || isOwnOrigin(origin, host) || rules.allowedOrigins.includes(origin);
  if (!isAllowed) return foreignOrigin;
  const { "content-encoding": encoding = "identity" } = request.headers;
  return encoding.toLowerCase() === "identity" ? null : encodedBody;
}

/** Whether a name or an address that a server listens on is reached from its own machine only. */
export function isLoopback(host: string): boolean {
  return host === "::1" || loopbackHosts.has(host);
}

/** The token that a request shows; empty for none. */
export function bearerOf({ authorization = "" }: RequestHeaders): string {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
}

/** In lower case and without the port; empty when it is no host. */
function hostName(host: string): string {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/.exec(host.toLowerCase())?.[1] ?? "";
}

function isOwnHost(name: string, { loopbackOnly, allowedHosts }: GuardRules): boolean {
  if (loopbackHosts.has(name) || allowedHosts.includes(name)) return true;
  return !loopbackOnly && isIP(name.replaceAll(/^\[|\]$/g, "")) !== 0;
}

const twoHosts: GuardRefusal = {
  status: 400,
  errorType: "INVALID_REQUEST",
  message: "The request has more than one Host header.",
  suggestion: "Send one.",
};

const foreignHost: GuardRefusal = {
  status: 403,
  errorType: "PERMISSION_DENIED",
  message: "This server does not accept that Host header.",
  suggestion: "Use its address, or a name that the operator has added to allowed_hosts (GLOVEBOX_ALLOWED_HOSTS).",
};

const foreignOrigin: GuardRefusal = {
  status: 403,
  errorType: "PERMISSION_DENIED",
  message: "Requests from this Origin are not allowed.",
  suggestion: "If the page is yours, add its origin to allowed_origins (GLOVEBOX_ALLOWED_ORIGINS).",
};

const encodedBody: GuardRefusal = {
  status: 415,
  errorType: "INVALID_REQUEST",
  message: "body: compressed or encoded (Content-Encoding), which this server does not accept.",
  suggestion: "Send it as it is, without the header Content-Encoding.",
};

/** Whether a page came from where it sends its request to: the same name and port. A proxy before the server may add TLS. */
function isOwnOrigin(origin: string, host: string): boolean {
  return /^https?:\/\/(.+)$/.exec(origin)?.[1] === host.toLowerCase();
}
