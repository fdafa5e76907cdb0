import { connect } from "node:net";
import { cancelled, throwIfCancelled } from "../../base/abort.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { HostPlace } from "../files/host/host-place.ts";
import { PeerChannel } from "./peer-channel.ts";
import { peerMessageSchema, errorOfWire, otherVersion, type PeerMessage, type PeerRequest } from "./peer-messages.ts";

type MessageOf<Type extends PeerMessage["type"]> = Extract<PeerMessage, { readonly type: Type }>;

/** What a peer server answers at once. */
export interface OpenPeerCall {
  readonly call: PeerCall;
  /** Of the sandbox. */
  readonly capabilities: Capabilities;
  /** As `Sandbox.hostPlaces`. */
  readonly places: readonly HostPlace[];
}

/** One request to another process, from the side that asks. */
export class PeerCall {
  readonly channel: PeerChannel;
  readonly #signal: AbortSignal | undefined;
  readonly #messages: PeerMessage[] = [];
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();
  #isClosed = false;
  #isUnknown = false;

  /** Resolves when the request was accepted. An abort, then or later until `keep`, ends the call. @throws what the other end answers */
  static async open(address: string, request: PeerRequest, signal?: AbortSignal): Promise<OpenPeerCall> {
    throwIfCancelled(signal);
    const call = new PeerCall(address, request, signal);
    const { capabilities, places } = await call.expect("open");
    return { call, capabilities, places };
  }

  private constructor(address: string, request: PeerRequest, signal: AbortSignal | undefined) {
    this.#signal = signal;
    const socket = connect(address);
    socket.write(`${JSON.stringify(request)}\n`);
    this.channel = new PeerChannel(socket, {
      onMessage: (message) => this.#take(message),
      onClose: () => {
        this.#isClosed = true;
        this.#wake.resolve();
        signal?.removeEventListener("abort", this.#onAbort);
      },
    });
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** From now on an abort does not concern the call. */
  keep(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }

  /** The next message, null when no more come. @throws UNSUPPORTED for words that this version does not know */
  async next(): Promise<PeerMessage | null> {
    while (this.#messages.length === 0 && !this.#isClosed) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
    const message = this.#messages.shift();
    if (message !== undefined) return message;
    if (this.#isUnknown) throw otherVersion();
    return null;
  }

  /** The next message, which must be of that type. @throws the error that comes in its place, SANDBOX_LOST, CANCELLED */
  async expect<Type extends PeerMessage["type"]>(type: Type): Promise<MessageOf<Type>> {
    const message = await this.next();
    if (message?.type === type) return message as MessageOf<Type>;
    this.channel.close();
    if (message?.type === "error") throw errorOfWire(message.error);
    if (message !== null) throw otherVersion();
    if (this.#signal?.aborted) throw cancelled(this.#signal.reason);
    throw ownerLost();
  }

  readonly #onAbort = (): void => this.channel.close();

  #take(message: unknown): void {
    const parsed = peerMessageSchema.safeParse(message);
    if (parsed.success) this.#messages.push(parsed.data);
    else {
      this.#isUnknown = true;
      this.channel.close();
    }
    this.#wake.resolve();
  }
}

/** The error of a program whose sandbox's owner went away. */
export function ownerLost(): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", "The process that owns the sandbox has ended or does not answer.", {
    suggestion: "`glovebox ps` lists the sandboxes that there are; `glovebox prune` removes what ended processes left.",
  });
}
