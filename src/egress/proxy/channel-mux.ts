import type { Duplex } from "node:stream";
import { createFrameReader, frameTypes, type Frame } from "../../base/mux/frames.ts";
import { MuxStream } from "../../base/mux/mux-stream.ts";

export interface ChannelMuxOptions {
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
