import type { Duplex } from "node:stream";
import { createFrameReader, encodeFrame, frameTypes, type Frame } from "../base/mux/frames.ts";
import { MuxStream, type MuxStreamOptions } from "../base/mux/mux-stream.ts";

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
