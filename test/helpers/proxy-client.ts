import { once } from "node:events";
import type { Duplex } from "node:stream";
import { createFrameReader, encodeFrame, frameTypes } from "../../src/base/mux-stream.ts";

/** How a connection ended: with `end` after all of its bytes, with `reset`, or with its channel. */
export interface Answer {
  readonly bytes: Buffer;
  readonly text: string;
  readonly end: "end" | "reset" | "channel" | "late";
}

export interface AskOptions {
  readonly withinMs?: number;
  /** Decides that the connection has been answered even if it has not ended. */
  readonly until?: (text: string) => boolean;
}

interface Open {
  readonly pieces: Buffer[];
  readonly settle: (end: Answer["end"]) => void;
  readonly until: ((text: string) => boolean) | undefined;
}

const creditBytes = 65_536;

/** A sandbox's end of the egress proxy, without a sandbox: it sends what a forwarder would send for all kinds of programs. */
export class ProxyClient {
  readonly #socket: Duplex;
  readonly #open = new Map<number, Open>();
  #newest = 0;

  constructor(socket: Duplex) {
    this.#socket = socket;
    const read = createFrameReader();
    socket.on("data", (bytes: Buffer) => {
      for (const { type, connection, payload } of read(bytes)) this.#receive(type, connection, payload);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      for (const open of this.#open.values()) open.settle("channel");
    });
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** Sends any frame at all. */
  send(type: number, connection: number, payload?: Uint8Array): void {
    if (this.isOpen) this.#socket.write(encodeFrame(type, connection, payload));
  }

  sendRaw(bytes: Uint8Array): void {
    if (this.isOpen) this.#socket.write(bytes);
  }

  /** Opens a connection, sends the pieces one after another, and resolves with all that comes back until it ends. */
  async ask(pieces: string | readonly (string | Uint8Array)[], options: AskOptions = {}): Promise<Answer> {
    const connection = this.connect();
    const answer = this.answerOf(connection, options);
    for (const piece of typeof pieces === "string" ? [pieces] : pieces) {
      const bytes = Buffer.from(piece as string, "latin1");
      for (let at = 0; at < bytes.length; at += 32_768) {
        this.send(frameTypes.data, connection, bytes.subarray(at, at + 32_768));
      }
    }
    return answer;
  }

  /** The number of a new connection. */
  connect(): number {
    this.send(frameTypes.open, ++this.#newest);
    return this.#newest;
  }

  answerOf(connection: number, { withinMs = 8_000, until }: AskOptions = {}): Promise<Answer> {
    const pieces: Buffer[] = [];
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const settle = (end: Answer["end"]): void => {
      clearTimeout(timer);
      this.#open.delete(connection);
      const bytes = Buffer.concat(pieces);
      resolve({ bytes, text: bytes.toString("latin1"), end });
    };
    const timer = setTimeout(() => {
      this.send(frameTypes.reset, connection);
      settle("late");
    }, withinMs);
    this.#open.set(connection, { pieces, settle, until });
    if (!this.isOpen) settle("channel");
    return promise;
  }

  async close(): Promise<void> {
    if (!this.isOpen) return;
    this.#socket.destroy();
    await once(this.#socket, "close");
  }

  #receive(type: number, connection: number, payload: Buffer): void {
    const open = this.#open.get(connection);
    if (open === undefined) return;
    if (type === frameTypes.data) {
      open.pieces.push(Buffer.from(payload));
      const grant = Buffer.alloc(4);
      grant.writeUInt32BE(Math.max(payload.length, creditBytes));
      this.send(frameTypes.credit, connection, grant);
      if (open.until?.(Buffer.concat(open.pieces).toString("latin1")) === true) {
        this.send(frameTypes.reset, connection);
        open.settle("end");
      }
    } else if (type === frameTypes.end) {
      this.send(frameTypes.end, connection);
      open.settle("end");
    } else if (type === frameTypes.reset) open.settle("reset");
  }
}
