import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createId } from "../base/id.ts";
import type { Logger } from "../base/logger.ts";
import type { Denial } from "../policy/network/denial.ts";
import type { EgressPolicy } from "../policy/network/egress-policy.ts";
import { proxyError, type ProxyProcess } from "./proxy-process.ts";
import type { AlertSink } from "../base/alert-sink.ts";
import {
  createFrameReader,
  encodeFrame,
  frameTypes,
  MuxStream,
  type Frame,
  type MuxStreamOptions,
} from "../base/mux-stream.ts";

/** Removes from a text of the sandbox what must not be shown. */
export type RedactText = (text: string) => string;

/** Bytes that a sandbox has exchanged with its egress proxy, over all its connections. */
interface TrafficCount {
  receivedBytes: number;
  sentBytes: number;
}

/** The traffic of the sandboxes that have had a network. They have no other way out, so it is all of their traffic. */
export class Traffic {
  readonly #counts = new Map<string, TrafficCount>();

  /** A sandbox's count, started if there is none; kept until `forget`. */
  of(sandbox: string): TrafficCount {
    const known = this.#counts.get(sandbox);
    if (known !== undefined) return known;
    const count = { receivedBytes: 0, sentBytes: 0 };
    this.#counts.set(sandbox, count);
    return count;
  }

  /** Undefined for one that never had a network. */
  find(sandbox: string): Readonly<TrafficCount> | undefined {
    return this.#counts.get(sandbox);
  }

  /** Called when the sandbox is gone. */
  forget(sandbox: string): void {
    this.#counts.delete(sandbox);
  }
}

/** Connections of one sandbox at once; more wait for their turn. The proxy allows twice as many, for those that are closing. */
const maxConnections = 64;
/** How long a program may take to close what the proxy has ended. */
const lingerMs = 10_000;

interface Relayed {
  readonly connection: Duplex;
  readonly stream: MuxStream;
}

/** Carries the connections that programs of one sandbox make to the proxy, over one channel; looks at no byte of them. */
export class ConnectionRelay {
  readonly #send: MuxStreamOptions["send"];
  readonly #read = createFrameReader();
  readonly #relayed = new Map<number, Relayed>();
  readonly #open = new Set<Duplex>();
  readonly #waiting = new Set<Duplex>();
  #newest = 0;
  #isClosed = false;

  /** `send` takes a frame for the proxy, and calls back when the channel wants more. */
  constructor(send: MuxStreamOptions["send"]) {
    this.#send = (frame, sent) => {
      if (!this.#isClosed) send(frame, sent);
    };
  }

  /** A program has connected. */
  accept(connection: Duplex): void {
    if (this.#isClosed) return void connection.destroy();
    connection.on("error", () => {
      // Its close follows.
    });
    connection.once("close", () => {
      this.#waiting.delete(connection);
      if (this.#open.delete(connection)) this.#next();
    });
    this.#waiting.add(connection);
    this.#next();
  }

  /** Takes bytes of the proxy's. @throws RangeError for what it never sends */
  receive(bytes: Uint8Array): void {
    for (const frame of this.#read(bytes)) this.#receive(frame);
  }

  /** The channel is over, and every connection is broken off. */
  close(): void {
    this.#isClosed = true;
    for (const connection of [...this.#waiting, ...this.#open]) connection.destroy();
  }

  #next(): void {
    const [connection] = this.#waiting;
    if (connection === undefined || this.#open.size >= maxConnections || this.#isClosed) return;
    this.#waiting.delete(connection);
    this.#open.add(connection);
    this.#begin(connection);
  }

  #begin(connection: Duplex): void {
    const number = ++this.#newest;
    const stream = new MuxStream({ connection: number, idleMs: null, send: this.#send });
    this.#relayed.set(number, { connection, stream });
    this.#send(encodeFrame(frameTypes.open, number), () => undefined);
    connection.pipe(stream).pipe(connection);
    connection.once("close", () => void stream.destroy());
    stream.on("error", () => {
      // Its close follows.
    });
    stream.once("close", () => {
      this.#relayed.delete(number);
      if (!stream.readableEnded) return void connection.destroy();
      const timer = setTimeout(() => connection.destroy(), lingerMs).unref();
      connection.once("close", () => clearTimeout(timer));
    });
  }

  #receive({ type, connection: number, payload }: Frame): void {
    if (type === frameTypes.open) throw new RangeError("not a frame of the proxy");
    // Unknown connections are over at this end, which the proxy does not know yet.
    const relayed = this.#relayed.get(number);
    if (relayed === undefined) return;
    const { stream } = relayed;
    if (type === frameTypes.data) stream.receive(payload);
    else if (type === frameTypes.end) stream.receiveEnd();
    else if (type === frameTypes.reset) this.#reset(relayed);
    else if (payload.length === 4) stream.receiveCredit(payload.readUInt32BE(0));
    else throw new RangeError("no credit");
  }

  /** After its own end the proxy reads no more, and the program still gets all that was said before. */
  #reset({ connection, stream }: Relayed): void {
    if (!stream.hasEnded) return stream.receiveReset();
    connection.unpipe(stream).resume();
    stream.end();
  }
}

/** Opens the port at which programs find the proxy. */
type OpenPort = (onConnection: (connection: Duplex) => void) => Promise<{ close(): Promise<void> }>;

const maxDenialsKept = 20;

/** A sandbox's connection to the proxy: relays bytes without looking at them, and records refusals. */
export class EgressConnection {
  readonly #process: ProxyProcess;
  /** A sandbox may have several at a time. */
  readonly #channel: string;
  readonly #socket: Socket;
  readonly #onEnded: () => void;
  readonly #traffic: TrafficCount;
  readonly #denials: Denial[] = [];
  readonly #lost = Promise.withResolvers<void>();
  #stopServing: () => void = () => undefined;
  #denialCount = 0;
  #isClosing = false;
  #isLost = false;
  /** Called for each refusal. */
  onDenied: ((denial: Denial) => void) | undefined;

  static async open(options: {
    readonly process: ProxyProcess;
    readonly sandbox: string;
    readonly policy: EgressPolicy;
    readonly logger: Logger;
    readonly refusalLevel: "info" | "warn";
    readonly refusals: AlertSink<Denial>;
    /** Traffic of the sandbox, all its connections together. */
    readonly traffic: TrafficCount;
    /** For text that the program chose: names may contain secrets. */
    readonly redact: RedactText;
  }): Promise<EgressConnection> {
    const { process, sandbox, policy, logger, refusalLevel, refusals, traffic, redact } = options;
    const heard: { deny: (denial: Denial) => void } = { deny: () => undefined };
    const channel = createId("chn");
    const socket = await process.openChannel(channel, policy, {
      onDenied: (told) => {
        const denial = redacted(told, redact);
        logger[refusalLevel]({ sandbox, denial }, "connection refused by the network policy");
        refusals.happened(sandbox, denial);
        heard.deny(denial);
      },
    });
    const connection = new EgressConnection({
      process,
      channel,
      socket,
      traffic,
      onEnded: () => refusals.ended(sandbox),
    });
    heard.deny = (denial) => connection.#deny(denial);
    void process.ended.then(() => connection.#lose());
    return connection;
  }

  private constructor(parts: {
    readonly process: ProxyProcess;
    readonly channel: string;
    readonly socket: Socket;
    readonly traffic: TrafficCount;
    readonly onEnded: () => void;
  }) {
    this.#process = parts.process;
    this.#channel = parts.channel;
    this.#socket = parts.socket;
    this.#onEnded = parts.onEnded;
    this.#traffic = parts.traffic;
  }

  /** The first refusals. */
  get denials(): readonly Denial[] {
    return this.#denials;
  }

  /** All refusals so far. */
  get denialCount(): number {
    return this.#denialCount;
  }

  /** Whether the proxy's process ended while the sandbox needed it. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Resolves when the proxy's process ends while the sandbox needs it; else never. */
  get lost(): Promise<void> {
    return this.#lost.promise;
  }

  /** Hands what programs say at the port to the proxy from then on; the port is given back at the end. @throws NETWORK_ERROR */
  async serve(open: OpenPort): Promise<void> {
    const socket = this.#socket;
    const relay = new ConnectionRelay((frame, sent) => {
      this.#traffic.sentBytes += frame.length;
      if (socket.writable) socket.write(frame, () => sent());
    });
    socket.on("data", (bytes: Buffer) => {
      this.#traffic.receivedBytes += bytes.length;
      try {
        relay.receive(bytes);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        socket.destroy();
      }
    });
    const port = await open((connection) => relay.accept(connection));
    this.#stopServing = () => {
      relay.close();
      // Its sandbox may have ended.
      port.close().catch(() => undefined);
    };
    socket.once("close", () => this.#stopServing());
    if (!socket.destroyed) return;
    this.#stopServing();
    throw proxyError("The egress proxy ended.");
  }

  /**
   * Changes the sandbox's policy and resolves when it is in force: connections that it does not allow have been cut,
   * and no new ones are made. If that is not certain, the sandbox loses its network.
   * @throws NETWORK_ERROR
   */
  async change(policy: EgressPolicy): Promise<void> {
    if (await this.#process.changePolicy(this.#channel, policy)) return;
    this.close();
    throw proxyError("The egress proxy did not accept the sandbox's new network policy.");
  }

  /** Resolves when all refusals so far are known here. */
  async settle(): Promise<void> {
    await this.#process.flush();
  }

  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    // At once, so that the next network of the sandbox finds the port free.
    this.#stopServing();
    this.#socket.destroy();
    this.#onEnded();
  }

  #deny(denial: Denial): void {
    this.#denialCount++;
    if (this.#denials.length < maxDenialsKept) this.#denials.push(denial);
    this.onDenied?.(denial);
  }

  #lose(): void {
    if (this.#isClosing) return;
    this.#isLost = true;
    this.#lost.resolve();
  }
}

function redacted({ target, rule, reason, remedy }: Denial, redact: RedactText): Denial {
  return { target: redact(target), rule, reason: redact(reason), remedy: redact(remedy) };
}
