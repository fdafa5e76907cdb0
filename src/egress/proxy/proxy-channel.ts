import type { Server } from "node:http";
import type { Socket } from "node:net";
import { parseAddressRange, type AddressRange } from "../../policy/network/ip-address.ts";
import { denial, type Denial } from "../../policy/network/denial.ts";
import { allowAddresses, denyTarget, type EgressPolicy } from "../../policy/network/egress-policy.ts";
import type { HostAndPort } from "../../policy/network/domain-names.ts";
import { dial, type Connected, type Dialled } from "./dial.ts";
import { createGateway } from "../http-gateway.ts";
import { maxDenialsTold } from "../proxy-messages.ts";
import type { Resolve, WayOut } from "./way-out.ts";
import type { Duplex } from "node:stream";
import { createFrameReader, frameTypes, MuxStream, type Frame } from "../../base/mux-stream.ts";

interface ChannelMuxOptions {
  /** The byte channel to the server. */
  readonly socket: Duplex;
  readonly idleMs: number;
  /** Maximum concurrent connections; whoever opens more is not our server, and the channel is closed. */
  readonly maxConnections: number;
  readonly onConnection: (stream: MuxStream) => void;
  /** Called for all data, with its size; `false` drops it. */
  readonly onBytes: (count: number) => boolean;
}

/**
 * Far more than honest connections leave unread: each has at most one frame in flight. What the sandbox sends ahead is
 * limited by its connections' credits.
 */
const maxUnreadBytes = 16 * 1024 * 1024;

/** The connections of one sandbox over its channel. Protocol violations close the channel and nothing else. */
export class ChannelMux {
  readonly #options: ChannelMuxOptions;
  readonly #streams = new Map<number, MuxStream>();
  #newest = 0;

  constructor(options: ChannelMuxOptions) {
    this.#options = options;
    const { socket } = options;
    const read = createFrameReader();
    socket.on("data", (bytes: Buffer) => {
      try {
        for (const frame of read(bytes)) this.#receive(frame);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        socket.destroy();
      }
    });
    socket.on("end", () => socket.destroy());
    socket.on("error", () => {
      // Its close follows.
    });
    socket.once("close", () => this.resetAll());
  }

  /** Ends all connections immediately. */
  resetAll(): void {
    for (const stream of this.#streams.values()) stream.destroy();
  }

  /** @throws RangeError for what the server never sends */
  #receive({ type, connection, payload }: Frame): void {
    if (type === frameTypes.open) return this.#open(connection);
    // Unknown connections have been closed at our end, which the other end does not know yet.
    const stream = this.#streams.get(connection);
    if (stream === undefined) return;
    if (type === frameTypes.data) {
      if (this.#options.onBytes(payload.length)) stream.receive(payload);
    } else if (type === frameTypes.end) stream.receiveEnd();
    else if (type === frameTypes.reset) stream.receiveReset();
    else if (payload.length === 4) stream.receiveCredit(payload.readUInt32BE(0));
    else throw new RangeError("no credit");
  }

  #open(connection: number): void {
    const { socket, idleMs, maxConnections, onBytes, onConnection } = this.#options;
    if (connection <= this.#newest || this.#streams.size >= maxConnections) throw new RangeError("connection");
    this.#newest = connection;
    const stream = new MuxStream({
      connection,
      idleMs,
      send: (frame, sent) => {
        if (frame[0] === frameTypes.data && !onBytes(frame.length)) return;
        if (socket.writableLength > maxUnreadBytes) socket.destroy();
        if (socket.writable) socket.write(frame, () => sent());
      },
    });
    stream.on("error", () => {
      // Its close follows.
    });
    stream.once("close", () => this.#streams.delete(connection));
    this.#streams.set(connection, stream);
    onConnection(stream);
  }
}

export interface ProxyChannelOptions {
  readonly socket: Socket;
  readonly policy: EgressPolicy;
  readonly resolve: Resolve;
  /** Reads the current addresses of this machine. */
  readonly ownAddresses: () => readonly AddressRange[];
  readonly wayOut: WayOut;
  readonly onDenied: (denial: Denial) => void;
}

/**
 * Connections of one sandbox: the server carries 64 at once and lets more wait; those that are closing also count here.
 */
const maxConnections = 128;
/** Connections of one sandbox to far sides, including those being made. */
const maxDialled = 128;
/** Lookups of one sandbox at once, so that its slow names do not delay those of others. */
const maxLookups = 8;
const idleMs = 300_000;

/** One sandbox's part of the proxy: its policy, its bytes, its connections. */
export class ProxyChannel {
  readonly #options: ProxyChannelOptions;
  readonly #mux: ChannelMux;
  readonly #gateway: Server;
  /** Connections to far sides. */
  readonly #dialled = new Set<{ readonly target: HostAndPort; readonly connected: Connected }>();
  readonly #lookups: (() => void)[] = [];
  #policy: EgressPolicy;
  #lookingUp = 0;
  #dialling = 0;
  #bytes = 0;
  #told = 0;

  /** Serves the sandbox's connections until its channel closes. */
  static serve(options: ProxyChannelOptions): ProxyChannel {
    return new ProxyChannel(options);
  }

  private constructor(options: ProxyChannelOptions) {
    this.#options = options;
    this.#policy = options.policy;
    this.#gateway = createGateway({
      dial: (target) => this.#dial(target),
      onDenied: (denied) => this.#tell(denied),
    });
    this.#mux = new ChannelMux({
      socket: options.socket,
      idleMs,
      maxConnections,
      onConnection: (stream) => void this.#gateway.emit("connection", stream),
      onBytes: (count) => this.#count(count),
    });
  }

  /**
   * Takes effect at once: connections that the new policy does not allow are cut. The byte limit remains that of the
   * first policy.
   */
  change(policy: EgressPolicy): void {
    this.#policy = policy;
    for (const { target, connected } of this.#dialled) {
      if (this.#denies(target, connected) !== null) connected.socket.destroy();
    }
  }

  get #isSpent(): boolean {
    return this.#bytes > this.#options.policy.maxBytes;
  }

  async #dial(target: HostAndPort): Promise<Dialled> {
    if (this.#isSpent) return { denied: this.#spent(`${target.name}:${target.port}`) };
    if (this.#dialling + this.#dialled.size >= maxDialled)
      return { failed: `More than ${maxDialled} connections at once.` };
    this.#dialling++;
    const dialled = await dial(target, {
      policy: this.#policy,
      own: this.#options.ownAddresses(),
      wayOut: this.#options.wayOut,
      idleMs,
      resolve: (name) => this.#resolve(name),
    }).finally(() => this.#dialling--);
    if (!("socket" in dialled)) return dialled;
    const { socket } = dialled;
    // The policy may have changed meanwhile, and the addresses of this machine.
    const denied = this.#denies(target, dialled);
    if (denied !== null) {
      socket.destroy();
      return { denied };
    }
    const entry = { target, connected: dialled };
    this.#dialled.add(entry);
    socket.once("close", () => this.#dialled.delete(entry));
    return dialled;
  }

  /** What the current policy says about a connection, given its far side and address. */
  #denies(target: HostAndPort, { socket, address, isDirect }: Connected): Denial | null {
    const denied = denyTarget(this.#policy, target);
    const { ownAddresses, wayOut } = this.#options;
    // The other end of a tunnel's socket is the upstream proxy; the far side is where that one was asked to connect to.
    const far = isDirect ? socket.remoteAddress : (address ?? undefined);
    if (denied !== null || far === undefined) return denied;
    // Who has the address that it reached is this machine, whatever its interfaces say.
    const here = isDirect && socket.localAddress === far ? parseAddressRange(far) : null;
    const own = [...ownAddresses(), ...wayOut.upstreamRanges, ...(here === null ? [] : [here])];
    const checked = allowAddresses(this.#policy, target, [far], own);
    return "rule" in checked ? checked : null;
  }

  async #resolve(name: string): Promise<readonly string[]> {
    if (this.#lookingUp >= maxLookups) await new Promise<void>((resolve) => void this.#lookups.push(resolve));
    this.#lookingUp++;
    try {
      return await this.#options.resolve(name);
    } finally {
      this.#lookingUp--;
      this.#lookups.shift()?.();
    }
  }

  /** Refusals are still answered once the budget is used up; they are small. */
  #count(count: number): boolean {
    const before = this.#isSpent;
    this.#bytes += count;
    if (!this.#isSpent || before) return true;
    this.#tell(this.#spent("(any)"));
    this.#mux.resetAll();
    return false;
  }

  #spent(target: string): Denial {
    const most = this.#options.policy.maxBytes;
    return denial(
      "budget",
      target,
      `The run has used up the ${most} bytes that it may send and receive.`,
      "Transfer less, or ask the operator to raise network.max_bytes.",
    );
  }

  #tell(denied: Denial): void {
    if (this.#told++ < maxDenialsTold) this.#options.onDenied(denied);
  }
}
