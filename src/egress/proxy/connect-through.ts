import { request as httpRequest, type OutgoingHttpHeaders } from "node:http";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import type { UpstreamProxy } from "../../policy/network/upstream-proxy.ts";

/** Why there is no tunnel. */
export interface TunnelFault {
  /** A phrase that follows "the upstream proxy"; contains nothing that the proxy sent except its status. */
  readonly reason: string;
  /** Whether the proxy works and only the target was out of its reach. */
  readonly isOfFarSide: boolean;
}

export interface TunnelOptions {
  /** The proxy's address, resolved by the caller. */
  readonly addresses: readonly string[];
  /** The target: an address or a name in canonical form, with a port. */
  readonly authority: string;
  /** Time limit until the tunnel is established. */
  readonly withinMs: number;
}

/** Maximum bytes of its response's head. */
const maxAnswerBytes = 16_384;

/**
 * Opens a tunnel through an upstream proxy: a connection whose next byte is the target's. What a hostile or broken
 * proxy sends is limited in bytes by the parser and in time by `withinMs`, and is never shown to anyone.
 */
export function connectThrough(
  proxy: UpstreamProxy,
  { addresses, authority, withinMs }: TunnelOptions,
): Promise<Socket | TunnelFault> {
  const { promise, resolve } = Promise.withResolvers<Socket | TunnelFault>();
  const socket = reach(proxy, addresses);
  let isSent = false;
  const fail = (reason: string, isOfFarSide = false): void => {
    clearTimeout(timer);
    socket.destroy();
    resolve({ reason, isOfFarSide });
  };
  const timer = setTimeout(() => fail(`did not answer within ${withinMs / 1000} s`), withinMs);
  const request = httpRequest({
    createConnection: () => socket,
    method: "CONNECT",
    path: authority,
    setHost: false,
    headers: headersOf(proxy, authority),
    maxHeaderSize: maxAnswerBytes,
    insecureHTTPParser: false,
  });
  request.removeHeader("connection");
  socket.once(proxy.isSecure ? "secureConnect" : "connect", () => (isSent = true));
  socket.on("error", () => {
    // The request, or the tunnel's user, sees the error.
  });
  request.on("connect", ({ statusCode = 0 }, _, first) => {
    if (statusCode < 200 || statusCode > 299) return fail(...refusal(statusCode, proxy));
    // A server waits for the client's first byte, in TLS and in HTTP.
    if (first.length > 0) return fail("sent more than the head of an answer to CONNECT: it is no HTTP proxy");
    clearTimeout(timer);
    socket.setNoDelay(true);
    resolve(socket);
  });
  request.on("upgrade", () => fail("changed the protocol instead of answering CONNECT: it is no HTTP proxy"));
  request.on("response", () => fail("did not take CONNECT for CONNECT: it is no HTTP proxy"));
  request.on("error", (error: NodeJS.ErrnoException) => fail(brokenOff(error, isSent, proxy)));
  request.end();
  return promise;
}

function reach(proxy: UpstreamProxy, addresses: readonly string[]): Socket {
  const lookup: LookupFunction = (_, { all }, done) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first] = found;
    if (first === undefined) done(Object.assign(new Error("no address"), { code: "ENOTFOUND" }), []);
    else if (all === true) done(null, found);
    else done(null, first.address, first.family);
  };
  const { host, port } = proxy;
  if (!proxy.isSecure) return connect({ host, port, lookup });
  return connectSecurely({ host, port, lookup, ...(isIP(host) === 0 ? { servername: host } : {}) });
}

function headersOf({ authorization }: UpstreamProxy, authority: string): OutgoingHttpHeaders {
  return { Host: authority, ...(authorization === null ? {} : { "Proxy-Authorization": authorization }) };
}

function refusal(status: number, { variable, authorization, resolvesNames }: UpstreamProxy): [string, boolean] {
  // tinyproxy answers 401 for a wrong password.
  if (status === 407 || status === 401) {
    const other = authorization === null ? "a user and a password" : "another user or password";
    return [`demands ${other} (${status}): set them in ${variable}, as http://USER:PASSWORD@HOST:PORT`, false];
  }
  if (status >= 502 && status <= 504) return [`could not reach it (${status})`, true];
  const asked = resolvesNames
    ? "it must allow CONNECT to this name and port"
    : "it must allow CONNECT to addresses at this port, or, if it takes names only, network.upstream_resolves must be set";
  return [`refuses the connection (${status}): ${asked}`, false];
}

function brokenOff({ code = "" }: NodeJS.ErrnoException, isSent: boolean, { variable }: UpstreamProxy): string {
  if (code === "HPE_HEADER_OVERFLOW") return `sends a head without an end: check that ${variable} names an HTTP proxy`;
  if (code.startsWith("HPE_")) return `gave an answer that is not HTTP: check that ${variable} names an HTTP proxy`;
  if (isSent) return `closed the connection instead of answering: check that ${variable} names an HTTP proxy`;
  const words = /^[A-Z_0-9]{1,60}$/.test(code) ? code : "an unknown error";
  return `could not be connected to (${words}): check ${variable}, and NODE_EXTRA_CA_CERTS where it has a private certificate`;
}
