import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { settlesWithin, untilCancelled } from "../base/abort.ts";
import { createId } from "../base/id.ts";
import { untilWritable } from "../base/streams/until-writable.ts";
import type { Logger } from "../base/logger.ts";
import type { Denial } from "../policy/network/denial.ts";
import type { EgressPolicy } from "../policy/network/egress-policy.ts";
import { proxyError, type ProxyProcess } from "./proxy-process.ts";
import type { RedactText, RefusalListener } from "./refusal-listener.ts";
import type { TrafficCount } from "./traffic.ts";

/** The bytes from and to a forwarder, over whatever transport. */
export interface ForwarderChannel {
  readonly input: Writable;
  readonly output: AsyncIterable<Uint8Array> | Readable;
}

/** How long a forwarder may take to listen: as long as starting an interpreter on a busy machine. */
const readyMs = 30_000;
const maxDenialsKept = 20;

/** A sandbox's connection to the proxy: relays bytes without looking at them, and records refusals. */
export class EgressConnection {
  readonly #process: ProxyProcess;
  /** A sandbox may have several at a time. */
  readonly #channel: string;
  readonly #socket: Socket;
  readonly #ready: PromiseWithResolvers<void>;
  readonly #onEnded: () => void;
  readonly #traffic: TrafficCount;
  readonly #denials: Denial[] = [];
  readonly #lost = Promise.withResolvers<void>();
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
    readonly refusals: RefusalListener;
    /** Traffic of the sandbox, all its connections together. */
    readonly traffic: TrafficCount;
    /** For text that the program chose: names may contain secrets. */
    readonly redact: RedactText;
  }): Promise<EgressConnection> {
    const { process, sandbox, policy, logger, refusalLevel, refusals, traffic, redact } = options;
    const ready = Promise.withResolvers<void>();
    const heard: { deny: (denial: Denial) => void } = { deny: () => undefined };
    const channel = createId("chn");
    const socket = await process.openChannel(channel, policy, {
      onReady: ready.resolve,
      onDenied: (told) => {
        const denial = redacted(told, redact);
        logger[refusalLevel]({ sandbox, denial }, "connection refused by the network policy");
        refusals.refused(sandbox, denial);
        heard.deny(denial);
      },
    });
    const connection = new EgressConnection({
      process,
      channel,
      socket,
      ready,
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
    readonly ready: PromiseWithResolvers<void>;
    readonly traffic: TrafficCount;
    readonly onEnded: () => void;
  }) {
    this.#process = parts.process;
    this.#channel = parts.channel;
    this.#socket = parts.socket;
    this.#ready = parts.ready;
    this.#onEnded = parts.onEnded;
    this.#traffic = parts.traffic;
    this.#ready.promise.catch(() => {
      // Only matters to code that awaits it.
    });
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

  /** Connects the forwarder to the proxy; `preamble` is sent to the forwarder first. */
  attach({ input, output }: ForwarderChannel, preamble: Uint8Array): void {
    input.on("error", () => {
      // A forwarder that has ended affects only its own sandbox.
    });
    input.write(preamble);
    void this.#upload(output);
    this.#socket.on("data", (bytes: Buffer) => {
      this.#traffic.receivedBytes += bytes.length;
      if (input.write(bytes)) return;
      this.#socket.pause();
      void untilWritable(input).then(() => this.#socket.resume());
    });
    // The forwarder then closes its connections and exits.
    this.#socket.once("close", () => input.end());
  }

  /** Resolves when programs can connect. @throws NETWORK_ERROR, CANCELLED */
  async ready(signal: AbortSignal | undefined): Promise<void> {
    const isInTime = await untilCancelled(settlesWithin(this.#ready.promise, readyMs), signal);
    if (!isInTime) this.#ready.reject(proxyError("The sandbox's end of the network did not come up."));
    await this.#ready.promise;
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
    this.#socket.destroy();
    this.#onEnded();
  }

  async #upload(output: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const bytes of output) {
        if (this.#socket.destroyed) continue;
        this.#traffic.sentBytes += bytes.length;
        if (!this.#socket.write(bytes)) await untilWritable(this.#socket);
      }
    } catch {
      // The channel broke because its sandbox ended, which is reported separately.
    }
    this.#ready.reject(proxyError("The sandbox's end of the network could not be started."));
    this.#socket.destroy();
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
    this.#ready.reject(proxyError("The egress proxy ended."));
  }
}

function redacted({ target, rule, reason, remedy }: Denial, redact: RedactText): Denial {
  return { target: redact(target), rule, reason: redact(reason), remedy: redact(remedy) };
}
