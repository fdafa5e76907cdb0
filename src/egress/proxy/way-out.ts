import { lookup, Resolver } from "node:dns/promises";
import { connect, isIP, type Socket, type LookupFunction } from "node:net";
import { isAmong, isOfThisMachine, parseAddressRange, type AddressRange } from "../../policy/network/ip-address.ts";
import { formatHostAndPort, type HostAndPort } from "../../policy/network/domain-names.ts";
import { isDirect, type UpstreamProxy } from "../../policy/network/upstream-proxy.ts";
import { request as httpRequest, type OutgoingHttpHeaders } from "node:http";
import { connect as connectSecurely } from "node:tls";

/** All addresses of a name, of both families; empty when it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

const answerMs = 5_000;
const nothing = new Set(["ENOTFOUND", "ENODATA", "EAI_NODATA", "EAI_NONAME"]);

/**
 * Resolves with the host's own means, or only at the given servers (`address` or `address:port`). The result rejects
 * when nobody answers.
 */
export function createResolver(servers: readonly string[]): Resolve {
  if (servers.length === 0) {
    return (name) => emptyWhenUnknown(lookup(name, { all: true }).then((found) => found.map(({ address }) => address)));
  }
  const resolver = new Resolver({ timeout: answerMs, tries: 2 });
  resolver.setServers(servers);
  return async (name) => {
    const answers = await Promise.allSettled([
      emptyWhenUnknown(resolver.resolve4(name)),
      emptyWhenUnknown(resolver.resolve6(name)),
    ]);
    const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    const failed = answers.find((answer) => answer.status === "rejected");
    if (found.length === 0 && failed !== undefined) throw failed.reason;
    return found;
  };
}

/** Why there is no tunnel. */
export interface TunnelFault {
  /** A phrase that follows "the upstream proxy"; contains nothing that the proxy sent except its status. */
  readonly reason: string;
  /** Whether the proxy works and only the target was out of its reach. */
  readonly isOfFarSide: boolean;
}

interface TunnelOptions {
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

/** A connection to a far side, or the reason why there is none, as a phrase that follows its name. */
export type Reached =
  | {
      readonly socket: Socket;
      /** Of the far side: what was dialled, or asked of the upstream proxy; null where that one looked the name up. */
      readonly address: string | null;
      /** Whether the socket ends at the far side itself. */
      readonly isDirect: boolean;
    }
  | { readonly failed: string };

interface WayOutOptions {
  /** Null: all connections are made directly. */
  readonly upstream: UpstreamProxy | null;
  /** Looks the upstream proxy's own name up: the machine's own means. */
  readonly resolve: Resolve;
  /** The current addresses of this machine. */
  readonly ownAddresses: () => readonly AddressRange[];
  /** Receives why the upstream proxy failed; contains no secret and nothing that it sent. */
  readonly onTrouble: (reason: string) => void;
}

const connectMs = 10_000;
const tunnelMs = 15_000;
/** Maximum addresses of one name that are tried. */
const maxTries = 4;

/** How connections leave this machine: directly, or through the operator's upstream proxy, which no program chooses. */
export class WayOut {
  readonly #options: WayOutOptions;
  #locating: Promise<readonly string[]> | undefined;
  #addresses: readonly string[] = [];

  constructor(options: WayOutOptions) {
    this.#options = options;
  }

  /** Null where connections are made directly. */
  get upstream(): UpstreamProxy | null {
    return this.#options.upstream;
  }

  /** The addresses that the upstream proxy had when it was last looked up: no public ones to a sandbox. */
  get upstreamRanges(): readonly AddressRange[] {
    return this.#addresses.flatMap((address) => parseAddressRange(address) ?? []);
  }

  /** Looks up the upstream proxy, on which everything else depends. The reason when that fails, else null. */
  async prepare(): Promise<string | null> {
    const { upstream, resolve } = this.#options;
    if (upstream === null) return null;
    this.#locating ??= (isIP(upstream.host) === 0 ? resolve(upstream.host) : Promise.resolve([upstream.host])).finally(
      () => (this.#locating = undefined),
    );
    const addresses = await this.#locating.catch(() => []);
    if (addresses.length === 0)
      return this.#trouble(`has a name that could not be resolved: check ${upstream.variable}`);
    this.#addresses = addresses;
    return null;
  }

  /** Whether a target with these addresses is the upstream proxy itself, at the port where it serves as one. */
  isUpstreamItself({ name, port }: HostAndPort, addresses: readonly string[]): boolean {
    const { upstream } = this.#options;
    if (upstream === null || port !== upstream.port) return false;
    if (name === upstream.host.replace(/\.$/, "") || addresses.some((address) => isAmong(address, this.upstreamRanges)))
      return true;
    const own = this.#options.ownAddresses();
    const isHere = this.#addresses.some((address) => isOfThisMachine(address, own));
    return isHere && addresses.some((address) => isOfThisMachine(address, own));
  }

  /** Connects to a target at the first of its addresses, which have been checked, that can be reached. */
  async connect(target: HostAndPort, addresses: readonly string[]): Promise<Reached> {
    let failed = "";
    for (const address of addresses.slice(0, maxTries)) {
      const goesDirect = this.#isDirect(target, address);
      const socket = goesDirect
        ? await connectTo(address, target.port)
        : await this.#tunnel(`${isIP(address) === 6 ? `[${address}]` : address}:${target.port}`);
      if (!("failed" in socket)) return { socket, address, isDirect: goesDirect };
      failed = socket.failed;
      if (socket.isFinal) break;
    }
    return { failed };
  }

  /** Whether a name that could not be resolved here may be passed to the upstream proxy. */
  takesName(target: HostAndPort): boolean {
    const { upstream } = this.#options;
    return upstream !== null && upstream.resolvesNames && !isDirect(upstream.direct, target, null);
  }

  /** Connects to a target at whatever address the upstream proxy finds. */
  async connectByName(target: HostAndPort): Promise<Reached> {
    const socket = await this.#tunnel(formatHostAndPort(target));
    return "failed" in socket ? socket : { socket, address: null, isDirect: false };
  }

  /** What leads to this machine would there lead to the upstream proxy's machine. */
  #isDirect(target: HostAndPort, address: string): boolean {
    const { upstream, ownAddresses } = this.#options;
    return upstream === null || isDirect(upstream.direct, target, address) || isOfThisMachine(address, ownAddresses());
  }

  async #tunnel(authority: string): Promise<Socket | Failure> {
    const { upstream } = this.#options;
    if (upstream === null) return { failed: "no upstream proxy", isFinal: true };
    const tunnel = await connectThrough(upstream, { addresses: this.#addresses, authority, withinMs: tunnelMs });
    if (!("reason" in tunnel)) return tunnel;
    const failed = tunnel.isOfFarSide ? `the upstream proxy ${tunnel.reason}` : this.#trouble(tunnel.reason);
    return { failed, isFinal: !tunnel.isOfFarSide };
  }

  #trouble(reason: string): string {
    this.#options.onTrouble(reason);
    return `the upstream proxy ${reason}`;
  }
}

interface Failure {
  readonly failed: string;
  /** Whether other addresses would fail too. */
  readonly isFinal: boolean;
}

/** The connection, or the code of what went wrong. */
function connectTo(host: string, port: number): Promise<Socket | Failure> {
  const { promise, resolve } = Promise.withResolvers<Socket | Failure>();
  const socket = connect({ host, port, noDelay: true });
  const timer = setTimeout(() => socket.destroy(Object.assign(new Error(), { code: "ETIMEDOUT" })), connectMs);
  socket.once("connect", () => {
    clearTimeout(timer);
    resolve(socket);
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    clearTimeout(timer);
    resolve({ failed: error.code ?? "an unknown error", isFinal: false });
  });
  return promise;
}

async function emptyWhenUnknown(asked: Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await asked;
  } catch (error) {
    if (nothing.has((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
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
