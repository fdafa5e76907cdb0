import type { Socket } from "node:net";
import { createFrameReader, encodeFrame, frameTypes, type Frame } from "../../base/mux/frames.ts";
import { MuxStream, type MuxStreamOptions } from "../../base/mux/mux-stream.ts";

/** Numbers of the connections on a channel. */
const numbers = { messages: 0, program: 1, errors: 2 } as const;

export interface PeerListener {
  /** Receives each message of the other end. @throws for one that is none: the channel then closes */
  readonly onMessage: (message: unknown) => void;
  /** The channel is over, whoever ended it. */
  readonly onClose: () => void;
}

/**
 * One end of a call's connection once the request is made. Messages pass beside the program's bytes, which wait for
 * each other only (see `MuxStream`): a full input does not hold up the message that ends the program.
 */
export class PeerChannel {
  /** Standard input of the program one way, standard output the other. */
  readonly program: MuxStream;
  /** Standard error. */
  readonly errors: MuxStream;
  readonly #socket: Socket;
  readonly #listener: PeerListener;
  readonly #read = createFrameReader();
  readonly #ended = new Set<MuxStream>();

  constructor(socket: Socket, listener: PeerListener) {
    this.#socket = socket;
    this.#listener = listener;
    const send: MuxStreamOptions["send"] = (frame, sent) => this.#send(frame, sent);
    this.program = new MuxStream({ connection: numbers.program, idleMs: null, send });
    this.errors = new MuxStream({ connection: numbers.errors, idleMs: null, send });
    for (const stream of [this.program, this.errors]) {
      stream.on("error", () => {
        // Its close follows.
      });
    }
    socket.on("data", (bytes: Buffer) => this.receive(bytes));
    socket.on("error", () => {
      // Its close follows.
    });
    socket.once("close", () => {
      // What has come to its end can still be read.
      for (const stream of [this.program, this.errors]) if (!this.#ended.has(stream)) stream.destroy();
      listener.onClose();
    });
    socket.resume();
  }

  /** Takes bytes that came before the channel was made. */
  receive(bytes: Uint8Array): void {
    try {
      for (const frame of this.#read(bytes)) this.#receive(frame);
    } catch {
      // Whoever breaks the rules is not listened to any more.
      this.#socket.destroy();
    }
  }

  send(message: object): void {
    this.#send(encodeFrame(frameTypes.data, numbers.messages, Buffer.from(JSON.stringify(message))), () => undefined);
  }

  /** Ends the channel when all that was sent has gone out. */
  finish(): void {
    this.#socket.end();
  }

  /** Ends it at once. */
  close(): void {
    this.#socket.destroy();
  }

  #receive({ type, connection, payload }: Frame): void {
    if (connection === numbers.messages) return this.#listener.onMessage(JSON.parse(payload.toString("utf8")));
    const stream = connection === numbers.program ? this.program : this.errors;
    if (type === frameTypes.data) stream.receive(payload);
    else if (type === frameTypes.end) {
      this.#ended.add(stream);
      stream.receiveEnd();
    } else if (type === frameTypes.reset) stream.receiveReset();
    else if (type === frameTypes.credit && payload.length === 4) stream.receiveCredit(payload.readUInt32BE(0));
    else throw new RangeError("not a frame of a call");
  }

  #send(frame: Buffer, sent: () => void): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return sent();
    this.#socket.write(frame, () => sent());
  }
}
