import type { Duplex } from "node:stream";
import { createFrameReader, encodeFrame, frameTypes, type Frame } from "./frames.ts";
import { MuxStream } from "./mux-stream.ts";

/** A frame on its way; `sent` is called when the channel wants more. */
export type SendFrame = (frame: Buffer, sent: () => void) => void;

/** Why a connection to a port could not be made: nothing listens there, or the channel is closed. */
export type DialFailure = "refused" | "closed";

interface Dialling {
  readonly stream: MuxStream;
  readonly answer: (answer: Duplex | DialFailure) => void;
}

/** Connections into one sandbox over the channel of a forwarder there. */
export class DialMux {
  readonly #send: SendFrame;
  readonly #read = createFrameReader();
  readonly #dialling = new Map<number, Dialling>();
  readonly #streams = new Map<number, MuxStream>();
  readonly #ready = Promise.withResolvers<void>();
  #newest = 0;
  #isClosed = false;

  /** Resolves when the forwarder can be asked, or never will be (`isClosed`). */
  readonly ready: Promise<void> = this.#ready.promise;

  constructor(send: SendFrame) {
    this.#send = (frame, sent) => {
      if (!this.#isClosed) send(frame, sent);
    };
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Connections that are open or asked for. */
  get size(): number {
    return this.#dialling.size + this.#streams.size;
  }

  /** Connects to a port of the sandbox's loopback; an abort takes the attempt back. */
  async dial(port: number, signal?: AbortSignal): Promise<Duplex | DialFailure> {
    if (this.#isClosed || signal?.aborted) return "closed";
    const connection = ++this.#newest;
    const stream = new MuxStream({ connection, idleMs: null, send: this.#send });
    stream.on("error", () => {
      // Its close follows.
    });
    const { promise, resolve } = Promise.withResolvers<Duplex | DialFailure>();
    this.#dialling.set(connection, { stream, answer: resolve });
    stream.once("close", () => {
      this.#dialling.delete(connection);
      this.#streams.delete(connection);
      resolve("closed");
    });
    const giveUp = (): void => void stream.destroy();
    signal?.addEventListener("abort", giveUp, { once: true });
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(port);
    this.#send(encodeFrame(frameTypes.open, connection, payload), () => undefined);
    const answer = await promise;
    signal?.removeEventListener("abort", giveUp);
    return answer;
  }

  /** Takes bytes of the channel. @throws RangeError for what no forwarder of ours sends */
  receive(bytes: Uint8Array): void {
    for (const frame of this.#read(bytes)) this.#receive(frame);
  }

  /** The channel is over, and every connection with it. */
  close(): void {
    this.#isClosed = true;
    this.#ready.resolve();
    for (const stream of this.#streams.values()) stream.destroy();
    for (const { stream } of this.#dialling.values()) stream.destroy();
  }

  #receive({ type, connection, payload }: Frame): void {
    if (type === frameTypes.hello) return this.#ready.resolve();
    const dialling = this.#dialling.get(connection);
    if (dialling !== undefined) return this.#answer(connection, dialling, type);
    // Unknown connections are over at our end, and the far side does not know yet.
    const stream = this.#streams.get(connection);
    if (stream === undefined) return;
    if (type === frameTypes.data) stream.receive(payload);
    else if (type === frameTypes.end) stream.receiveEnd();
    else if (type === frameTypes.reset) stream.receiveReset();
    else if (type === frameTypes.credit && payload.length === 4) stream.receiveCredit(payload.readUInt32BE(0));
    else throw new RangeError("not a frame of an open connection");
  }

  #answer(connection: number, { stream, answer }: Dialling, type: number): void {
    if (type !== frameTypes.open && type !== frameTypes.reset) throw new RangeError("not an answer");
    this.#dialling.delete(connection);
    if (type === frameTypes.open) {
      this.#streams.set(connection, stream);
      answer(stream);
    } else {
      answer("refused");
      stream.receiveReset();
    }
  }
}
