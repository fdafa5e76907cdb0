import { timingSafeEqual, createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { ConnectionShares, guardConnections } from "../base/http/connections.ts";
import { createToken, tokenForm } from "../base/id.ts";
import { backendUpstream, originText, type OuterOrigin, type Upstream } from "./upstream.ts";
import { credentialCheck, type OwnCredentials } from "./own-credentials.ts";
import { refuseUpgrade, sendOwnAnswer } from "./own-answer.ts";
import { PreviewGate, type PreviewRoom, type PreviewTarget } from "./preview-gate.ts";
import { unknownPreview, foreignHost, foreignOrigin, headTooLarge, unclearRequest } from "./refusals.ts";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { errorCode } from "../errors/glovebox-error.ts";
import { maxHeadBytes, isUnclear } from "./http-heads.ts";

/** A host by which a preview is asked for. */
interface PreviewHost {
  readonly token: string;
  /** As it was sent, in lower case and with its port: what a page of that origin calls itself. */
  readonly authority: string;
  /** What the name ends in: `localhost`, or the operator's domain. */
  readonly domain: string;
}

/**
 * Reads `TOKEN.DOMAIN` with or without a port; null for every other host, one with further labels, an address or a final
 * dot included. Whether there is a preview with that token is for the caller to find out.
 */
function readPreviewHost(host: string | undefined, domains: readonly string[]): PreviewHost | null {
  const authority = (host ?? "").toLowerCase();
  const [, token, domain] = /^([^.:]+)\.([a-z0-9.-]+)(?::\d{1,5})?$/.exec(authority) ?? [];
  if (token === undefined || domain === undefined || !tokenForm.test(token) || !domains.includes(domain)) return null;
  return { token, authority, domain };
}

/** Whether a host names this machine's loopback at that port, as the listener of one preview is reached. */
function isDirectHost(host: string | undefined, port: number): boolean {
  const authority = (host ?? "").toLowerCase();
  return ["127.0.0.1", "localhost", "[::1]"].some((name) => authority === `${name}:${port}`);
}

const address = "127.0.0.1";
const headersWithinMs = 10_000;

/** A listener of one preview alone, on loopback under a number of its own. */
interface DirectListener {
  readonly port: number;
  close(): void;
}

/** Opens it; it answers to loopback addresses, and to the preview's own name below `localhost`. */
async function openDirectListener(
  gate: PreviewGate,
  { token, connections }: { readonly token: string; readonly connections: ConnectionShares },
): Promise<DirectListener> {
  const server: Server = createServer({ noDelay: true, headersTimeout: headersWithinMs, maxHeaderSize: maxHeadBytes });
  connections.watch(server);
  // Their size is what is bounded.
  server.maxHeadersCount = 0;
  const outerOf = ({ headers: { host } }: IncomingMessage): OuterOrigin | null => {
    const isNamed = readPreviewHost(host, ["localhost"])?.token === token;
    const isOwn = isNamed || isDirectHost(host, portOf(server));
    return isOwn ? { scheme: "http", authority: (host ?? "").toLowerCase() } : null;
  };
  server.on("request", (request, response) => {
    const outer = outerOf(request);
    if (isUnclear(request)) sendOwnAnswer(request, response, unclearRequest);
    else if (outer === null) sendOwnAnswer(request, response, foreignHost);
    else gate.handle(request, response, outer);
  });
  server.on("upgrade", (request, socket, head) => {
    const outer = outerOf(request);
    const { origin } = request.headers;
    if (isUnclear(request)) refuseUpgrade(socket, unclearRequest);
    else if (outer === null) refuseUpgrade(socket, foreignHost);
    else if (origin !== undefined && origin !== originText(outer)) refuseUpgrade(socket, foreignOrigin);
    else gate.upgrade(request, socket, head, outer);
  });
  server.on("clientError", answerBroken);
  guardConnections(server);
  await once(server.listen({ host: address, port: 0, exclusive: true }), "listening");
  return {
    port: portOf(server),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Ends a connection on which no HTTP arrived, too much of it before a body, or too slowly. */
function answerBroken(error: Error, socket: Duplex): void {
  const code = errorCode(error);
  if (code === "ECONNRESET" || !socket.writable) socket.destroy();
  else refuseUpgrade(socket, code === "HPE_HEADER_OVERFLOW" ? headTooLarge : unclearRequest);
}

/** Where previews are reached beyond loopback. */
export interface PreviewDomain {
  /** Of the page's address: `https` where something before this server does TLS. */
  readonly scheme: "http" | "https";
  /** In lower case. */
  readonly name: string;
  /** Null: the scheme's default port with `https`, else the server's. */
  readonly port: number | null;
}

export interface PreviewGatewayOptions {
  /** Null: loopback only. */
  readonly domain: PreviewDomain | null;
  /** Origin of what requests under `/api` go to; null: nothing. */
  readonly backend: string | null;
  /** The token with which this user's programs authenticate to their servers; null: there is none. No program gets it. */
  readonly readToken: () => Promise<string | null>;
}

/** A server of ours that takes requests for all previews by their names. */
export interface ServingPlace {
  readonly port: number;
  /** Whether it listens on loopback alone. */
  readonly isLoopback: boolean;
  /** Where its connections count, and from now on those of previews' own listeners. */
  readonly room: PreviewRoom;
}

/** Where a preview is reached. */
export interface OpenedPreview {
  readonly url: string;
  /** On loopback by address, for tools that do not know names below `localhost`; null beyond loopback. */
  readonly directUrl: string | null;
  close(): void;
}

/** What a door of its own brings for its programs. */
export interface ForeignDoor {
  readonly room: PreviewRoom;
  /** Of the door's own, which no program gets. */
  readonly tokens: readonly string[];
  /** Whether a host opens a program by its name alone. */
  readonly isNamed: (host: string) => boolean;
}

interface Entry {
  readonly digest: Buffer;
  readonly gate: PreviewGate;
}

/** The entrances to previews: each has an origin of its own, whose name nobody can guess. */
export class PreviewGateway {
  readonly #domain: PreviewDomain | null;
  readonly #backend: Upstream | null;
  readonly #domains: readonly string[];
  readonly #readToken: PreviewGatewayOptions["readToken"];
  readonly #entries = new Set<Entry>();
  #serving: ServingPlace | null = null;
  /** Of previews' own listeners, without a server. */
  readonly #ownRoom: PreviewRoom = { connections: new ConnectionShares(), hold: () => ({ release: () => undefined }) };

  constructor({ domain, backend, readToken }: PreviewGatewayOptions) {
    this.#domain = domain;
    this.#readToken = readToken;
    this.#backend = backend === null ? null : backendUpstream(backend);
    this.#domains = domain === null ? ["localhost"] : ["localhost", domain.name];
  }

  /** From now on a server hands requests of previews in; without one each preview has only a listener of its own. */
  servedAt(place: ServingPlace): void {
    this.#serving = place;
  }

  /** Opens the way to a program. */
  async open(target: PreviewTarget): Promise<OpenedPreview> {
    const token = createToken();
    const serving = this.#serving;
    const room = serving?.room ?? this.#ownRoom;
    const gate = new PreviewGate(target, { backend: this.#backend, own: await this.#ownCredentials(), room });
    const isDirect = serving === null || serving.isLoopback;
    const direct = isDirect ? await openDirectListener(gate, { token, connections: room.connections }) : null;
    const entry: Entry = { digest: digestOf(token), gate };
    this.#entries.add(entry);
    return {
      url: this.#urlOf(token, serving?.port ?? direct?.port ?? 0),
      directUrl: direct === null ? null : `http://127.0.0.1:${direct.port}/`,
      close: () => {
        this.#entries.delete(entry);
        gate.close();
        direct?.close();
      },
    };
  }

  /**
   * An entrance for one exchange of another door, which decides who may come in. `tokens` and what is sent by hosts that `isNamed`
   * reach no program.
   */
  async gateFor(target: PreviewTarget, { room, tokens, isNamed }: ForeignDoor): Promise<PreviewGate> {
    const own = await this.#ownCredentials(tokens);
    const isPreview = (host: string): boolean => own.isPreview(host) || isNamed(host);
    return new PreviewGate(target, { backend: null, own: { ...own, isPreview }, room });
  }

  /** Cuts what is in progress with previews, WebSockets too, and lets nothing more in. */
  close(): void {
    for (const { gate } of this.#entries) gate.close();
    this.#entries.clear();
  }

  /** Where the pages of all previews are, as a source of a content policy: a page of ours may frame these. */
  get pageSource(): string {
    return this.#urlOf("*", this.#serving?.port ?? 0).replace(/\/$/, "");
  }

  /** Whether a request is for a preview, whatever its token; requests for every other host do not belong here. */
  takes({ headers }: IncomingMessage): boolean {
    return readPreviewHost(headers.host, this.#domains) !== null;
  }

  /** Answers one that `takes` has taken. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    const found = this.#find(request);
    if (found === null) sendOwnAnswer(request, response, unknownPreview);
    else found.gate.handle(request, response, found.outer);
  }

  /** The same for what is to become a WebSocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const found = this.#find(request);
    if (found === null) refuseUpgrade(socket, unknownPreview);
    else found.gate.upgrade(request, socket, head, found.outer);
  }

  async #ownCredentials(tokens: readonly string[] = []): Promise<OwnCredentials> {
    const token = await this.#readToken();
    return {
      isShownIn: credentialCheck([...tokens, ...(token === null ? [] : [token])]),
      isPreview: (host) => readPreviewHost(host, this.#domains) !== null,
    };
  }

  #find({ headers }: IncomingMessage): { readonly gate: PreviewGate; readonly outer: OuterOrigin } | null {
    const host = readPreviewHost(headers.host, this.#domains);
    if (host === null) return null;
    const shown = digestOf(host.token);
    let gate: PreviewGate | null = null;
    // All of them, so that the time reveals nothing.
    for (const entry of this.#entries) if (timingSafeEqual(entry.digest, shown)) gate = entry.gate;
    return gate === null ? null : { gate, outer: this.#outerOf(host) };
  }

  #outerOf({ authority, domain }: PreviewHost): OuterOrigin {
    const scheme = this.#domain !== null && this.#domain.name === domain ? this.#domain.scheme : "http";
    return { scheme, authority };
  }

  #urlOf(token: string, ownPort: number): string {
    const domain = this.#serving === null ? null : this.#domain;
    if (domain === null) return `http://${token}.localhost:${ownPort}/`;
    const port = domain.port ?? (domain.scheme === "https" ? null : ownPort);
    return new URL(`${domain.scheme}://${token}.${domain.name}${port === null ? "" : `:${port}`}/`).href;
  }
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
