import { connect } from "node:net";
import { cancelled, throwIfCancelled } from "../../base/abort.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { DoorChannel } from "./peer-channel.ts";
import { doorMessageSchema, errorOfWire, otherVersion, type DoorMessage, type DoorRequest } from "./peer-messages.ts";

type MessageOf<Type extends DoorMessage["type"]> = Extract<DoorMessage, { readonly type: Type }>;

/** What an open door tells at once. */
export interface OpenDoor {
  readonly call: DoorCall;
  /** Of the sandbox. */
  readonly capabilities: Capabilities;
}

/** One request at the door of another process, from the visitor's side. */
export class DoorCall {
  readonly channel: DoorChannel;
  readonly #signal: AbortSignal | undefined;
  readonly #messages: DoorMessage[] = [];
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();
  #isClosed = false;
  #isUnknown = false;

  /** Resolves when the door has opened. An abort, then or later until `keep`, ends the call. @throws what the door answers */
  static async open(address: string, request: DoorRequest, signal?: AbortSignal): Promise<OpenDoor> {
    throwIfCancelled(signal);
    const call = new DoorCall(address, request, signal);
    const { capabilities } = await call.expect("open");
    return { call, capabilities };
  }

  private constructor(address: string, request: DoorRequest, signal: AbortSignal | undefined) {
    this.#signal = signal;
    const socket = connect(address);
    socket.write(`${JSON.stringify(request)}\n`);
    this.channel = new DoorChannel(socket, {
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
  async next(): Promise<DoorMessage | null> {
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
  async expect<Type extends DoorMessage["type"]>(type: Type): Promise<MessageOf<Type>> {
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
    const parsed = doorMessageSchema.safeParse(message);
    if (parsed.success) this.#messages.push(parsed.data);
    else {
      this.#isUnknown = true;
      this.channel.close();
    }
    this.#wake.resolve();
  }
}

/** The error of a visit whose sandbox's owner went away. */
export function ownerLost(): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", "The process that owns the sandbox has ended or does not answer.", {
    suggestion: "`glovebox ps` lists the sandboxes that there are; `glovebox prune` removes what ended processes left.",
  });
}
