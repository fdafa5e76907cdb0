import { Duplex } from "node:stream";
import { createDemuxer } from "../http/demuxer.ts";

/**
 * The supervisor's standard input and output over the connection that is attached to its container. What it says for people, on
 * standard error, is thrown away: the channel tells the same.
 */
export class ControlStream extends Duplex {
  readonly #socket: Duplex;

  constructor(socket: Duplex) {
    // Half-close is never used: the end of either direction is the end of both.
    super({ allowHalfOpen: false });
    this.#socket = socket;
    const demux = createDemuxer();
    socket.on("data", (bytes: Buffer) => {
      try {
        for (const chunk of demux(bytes)) {
          if (chunk.stream === "stdout" && !this.push(chunk.bytes)) socket.pause();
        }
      } catch (error) {
        this.destroy(error as Error);
      }
    });
    socket.on("end", () => this.push(null));
    socket.on("error", (error: Error) => this.destroy(error));
    socket.on("close", () => this.destroy());
    socket.pause();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _writev(chunks: readonly { readonly chunk: Uint8Array }[], done: (error?: Error | null) => void): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
