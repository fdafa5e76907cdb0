import type { Config } from "../config/config.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { ConnectionShares } from "../base/http/connections.ts";
import type { BytesInFlight } from "../calls/bytes-in-flight.ts";
import type { Platform } from "../platform/platform.ts";
import type { E2bSandboxes } from "./e2b-sandboxes.ts";
import type { E2bSandbox } from "./e2b-sandbox.ts";
import { E2bRefusal, notRunning } from "./refusal.ts";

/** A port of a sandbox, as a host names it. */
interface HostedPort {
  readonly id: string;
  readonly port: number;
  /** As it was sent, in lower case. */
  readonly authority: string;
  readonly scheme: "http" | "https";
}

/** Names of a domain that are no sandbox's: for the control API, and for requests whose headers name a sandbox. */
const ownLabels = ["api", "sandbox"];
const maxPort = 65_535;

/** The hosts of this server: each port of a sandbox has a name below the domain, and below `localhost`. */
export class SandboxHosts {
  readonly #domain: Config["preview"]["domain"];
  readonly #isLoopback: boolean;
  #ownPort = 0;

  constructor(domain: Config["preview"]["domain"], isLoopback: boolean) {
    this.#domain = domain;
    this.#isLoopback = isLoopback;
  }

  /** From now on it listens there. */
  listensAt(port: number): void {
    this.#ownPort = port;
  }

  /** Whether only this machine reaches them, so far as this server knows. */
  get isLocal(): boolean {
    return this.#isLoopback && this.#domain === null;
  }

  /** Below which clients find the ports of their sandboxes; null: nowhere. */
  get authority(): string | null {
    const domain = this.#domain;
    if (domain === null) return this.#isLoopback ? `localhost:${this.#ownPort}` : null;
    const port = domain.port ?? (domain.scheme === "https" ? null : this.#ownPort);
    return port === null ? domain.name : `${domain.name}:${port}`;
  }

  /** Further names of the server itself. */
  get ownNames(): readonly string[] {
    return this.#domain === null
      ? []
      : [this.#domain.name, ...ownLabels.map((label) => `${label}.${this.#domain?.name}`)];
  }

  /** Reads `PORT-ID.DOMAIN`, with E2B's old suffix behind the id or none; null for every other host. */
  read(host: string | undefined): HostedPort | null {
    const authority = (host ?? "").toLowerCase();
    const [, port = "", id, name] =
      /^([1-9]\d{0,4})-([a-z0-9]{1,40})(?:-[a-z0-9]{1,20})?\.([a-z0-9.-]+)(?::\d{1,5})?$/.exec(authority) ?? [];
    if (id === undefined || Number(port) > maxPort) return null;
    const isOwn = name === this.#domain?.name;
    if (!isOwn && name !== "localhost") return null;
    return { id, port: Number(port), authority, scheme: isOwn ? (this.#domain?.scheme ?? "http") : "http" };
  }
}

type Gateway = Platform["previewGateway"];
type Gate = Awaited<ReturnType<Gateway["gateFor"]>>;
type OuterOrigin = Parameters<Gate["handle"]>[2];

interface PortGateParts {
  readonly platform: Pick<Platform, "findLive" | "previewGateway">;
  readonly sandboxes: E2bSandboxes;
  readonly hosts: SandboxHosts;
  readonly connections: ConnectionShares;
  readonly inFlight: BytesInFlight;
}

/** One port of a sandbox, and the origin by which it was asked for. */
export interface AskedPort {
  readonly sandbox: E2bSandbox;
  readonly port: number;
  readonly outer: OuterOrigin;
}

/** One in progress; null: its way is being found. */
interface PortExchange {
  gate: Gate | null;
}

/** Requests and WebSockets of one sandbox's ports in progress at once. */
const maxExchanges = 256;
/** What one of them may hold, as those of previews. */
const exchangeBytes = 65_536;

/** The way of requests to programs that listen in sandboxes; whoever knows a sandbox's id may come in, unless it was made private. */
export class PortGates {
  readonly #parts: PortGateParts;
  readonly #open = new Map<string, Set<PortExchange>>();

  constructor(parts: PortGateParts) {
    this.#parts = parts;
  }

  /** @throws E2bRefusal 403 without its token, 502 if the sandbox has ended, 503 for too many */
  async handle(request: IncomingMessage, response: ServerResponse, asked: AskedPort): Promise<void> {
    (await this.#gateFor(request, response, asked)).handle(request, response, asked.outer);
  }

  /** The same for what is to become a WebSocket. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, asked: AskedPort): Promise<void> {
    (await this.#gateFor(request, socket, asked)).upgrade(request, socket, head, asked.outer);
  }

  async #gateFor(
    request: IncomingMessage,
    answered: Duplex | ServerResponse,
    { sandbox, port }: AskedPort,
  ): Promise<Gate> {
    const { sandboxes, platform, hosts, connections, inFlight } = this.#parts;
    const { id, caller, token, trafficToken, isPublic, maskedHost, ended } = sandbox;
    const { "e2b-traffic-access-token": shown } = request.headers;
    if (!isPublic && !(typeof shown === "string" && sandboxes.isTrafficToken(sandbox, shown))) {
      throw new E2bRefusal(403, "expected the sandbox's token in the header E2B-Traffic-Access-Token", {
        sandboxId: id,
      });
    }
    const exchange = this.#begin(sandbox, answered);
    const sandboxId = await sandboxes.knownId(sandbox);
    if (sandboxId === undefined) throw notRunning(id);
    const { principal } = caller;
    const live = sandboxId === null ? undefined : platform.findLive(sandboxId);
    const closed = "The sandbox is running but port is not open";
    const gate = await platform.previewGateway.gateFor(
      {
        principal,
        port: () => port,
        connect: (signal) => live?.connect(port, { signal }) ?? Promise.reject(new Error(closed)),
        isStarting: () => false,
        ownsApi: true,
        host: maskedHost?.replaceAll("${PORT}", String(port)),
        unreachable: {
          ...{
            status: 502,
            errorType: "NETWORK_ERROR",
            message: closed,
            suggestion: `Start a program that listens on ${port}.`,
          },
          body: { sandboxId: id, message: closed, port, code: 502 },
        },
      },
      {
        room: { connections, hold: (owner) => inFlight.hold(`ports of ${owner}`, exchangeBytes) },
        tokens: [token, trafficToken],
        isNamed: (host) => hosts.read(host) !== null,
      },
    );
    exchange.gate = gate;
    if (ended.aborted) gate.close();
    return gate;
  }

  /** Counts one until what it is answered on closes; the end of its sandbox cuts it. @throws E2bRefusal 503 for one too many */
  #begin({ id, ended }: E2bSandbox, answered: Duplex | ServerResponse): PortExchange {
    let open = this.#open.get(id);
    if (open === undefined) {
      this.#open.set(id, (open = new Set()));
      ended.addEventListener("abort", () => this.#cut(id), { once: true });
    }
    const exchanges = open;
    if (exchanges.size >= maxExchanges) {
      throw new E2bRefusal(503, "Too many requests to ports of this sandbox are in progress.");
    }
    const exchange: PortExchange = { gate: null };
    exchanges.add(exchange);
    answered.once("close", () => exchanges.delete(exchange));
    return exchange;
  }

  #cut(id: string): void {
    for (const { gate } of this.#open.get(id) ?? []) gate?.close();
    this.#open.delete(id);
  }
}
