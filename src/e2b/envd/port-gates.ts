import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { ConnectionShares } from "../../base/http/connections.ts";
import type { BytesInFlight } from "../../calls/bytes-in-flight.ts";
import type { Platform } from "../../platform/platform.ts";
import type { E2bSandboxes } from "../e2b-sandboxes.ts";
import type { E2bSandbox } from "../e2b-sandbox.ts";
import { E2bRefusal, notRunning } from "../refusal.ts";
import type { SandboxHosts } from "../sandbox-hosts.ts";

type Gateway = Platform["previewGateway"];
type Gate = Awaited<ReturnType<Gateway["gateFor"]>>;
type OuterOrigin = Parameters<Gate["handle"]>[2];

export interface PortGateParts {
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
