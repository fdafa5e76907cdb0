import { Duplex } from "node:stream";
import type { WebSocket } from "ws";

/** First byte of each message of the protocol. */
const channels = { input: 0, output: 1, status: 3 } as const;

/**
 * The supervisor's standard input and output over an attached WebSocket, which may come later than the first bytes to it, and more
 * than once until the supervisor has said something: what was written is kept until then. What it says for people, on standard
 * error, is thrown away: the channel tells the same.
 */
export class AttachStream extends Duplex {
  #socket: WebSocket | undefined;
  /** What no supervisor is known to have received; null: one has answered. */
  #unheard: Buffer[] | null = [];

  constructor() {
    // Half-close is never used: the end of either direction is the end of both.
    super({ allowHalfOpen: false });
    this.on("error", () => {
      // Its close follows.
    });
  }

  /**
   * Uses a connection that is open. Resolves to null when the supervisor has said something by it; else to why it ended before. From
   * its first words on its end is the stream's.
   */
  use(socket: WebSocket): Promise<string | null> {
    const { promise, resolve } = Promise.withResolvers<string | null>();
    let reason = "the connection ended";
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      const [channel] = data;
      if (channel === channels.status) reason = data.subarray(1).toString("utf8");
      if (channel !== channels.output || data.length === 1) return;
      this.#unheard = null;
      resolve(null);
      if (!this.push(data.subarray(1))) socket.pause();
    });
    socket.on("error", (error) => {
      reason = error.message;
    });
    socket.on("close", () => {
      resolve(reason);
      if (this.#unheard === null) this.destroy();
    });
    if (this.destroyed) socket.terminate();
    else this.#sendUnheard(socket);
    return promise;
  }

  override _read(): void {
    this.#socket?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#take(chunk, done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#take(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket?.terminate();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket?.terminate();
    done(error);
  }

  #take(bytes: Buffer, done: (error?: Error | null) => void): void {
    this.#unheard?.push(bytes);
    if (this.#socket === undefined) done();
    else this.#send(this.#socket, bytes, done);
  }

  #sendUnheard(socket: WebSocket): void {
    const bytes = Buffer.concat(this.#unheard ?? []);
    if (bytes.length > 0) this.#send(socket, bytes, () => undefined);
  }

  #send(socket: WebSocket, bytes: Buffer, done: (error?: Error | null) => void): void {
    socket.send(Buffer.concat([Buffer.from([channels.input]), bytes]), (error) => {
      // Before its first words a connection may fail, and the next one has them all.
      done(this.#unheard === null ? (error ?? null) : null);
    });
  }
}
