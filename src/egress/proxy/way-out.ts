import { connect, isIP, type Socket } from "node:net";
import { isAmong, isOfThisMachine } from "../../policy/network/address-kind.ts";
import { parseAddressRange, type AddressRange } from "../../policy/network/address-range.ts";
import { formatHostAndPort, type HostAndPort } from "../../policy/network/host-and-port.ts";
import { isDirect } from "../../policy/network/no-proxy.ts";
import type { UpstreamProxy } from "../../policy/network/upstream-proxy.ts";
import { connectThrough } from "./connect-through.ts";
import type { Resolve } from "./resolver.ts";

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

export interface WayOutOptions {
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
