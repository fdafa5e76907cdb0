import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { Duplex } from "node:stream";
import { endCommand } from "../command/container-command.ts";

/** How long a command whose streams have been closed may stay. */
const letGoMs = 2_000;

/**
 * The supervisor's standard input and output over the command that is attached to its container. What comes on standard error is the
 * command's own, or for people.
 */
export class CommandStream extends Duplex {
  readonly #child: ChildProcessWithoutNullStreams;

  constructor(child: ChildProcessWithoutNullStreams) {
    // Half-close is never used: the end of either direction is the end of both.
    super({ allowHalfOpen: false });
    this.#child = child;
    const { stdin, stdout } = child;
    stdout.on("data", (bytes: Buffer) => {
      if (!this.push(bytes)) stdout.pause();
    });
    stdout.on("end", () => this.push(null));
    for (const stream of [stdin, stdout]) {
      stream.on("error", (error: Error) => this.destroy(error));
    }
    stdout.on("close", () => this.destroy());
  }

  override _read(): void {
    this.#child.stdout.resume();
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#child.stdin.write(chunk, done);
  }

  override _writev(chunks: readonly { readonly chunk: Uint8Array }[], done: (error?: Error | null) => void): void {
    this.#child.stdin.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#close();
    done(error);
  }

  /** The end of its input ends the supervisor, and with it the container, and with that the command. */
  #close(): void {
    this.#child.stdin.destroy();
    this.#child.stdout.destroy();
    setTimeout(() => endCommand(this.#child), letGoMs).unref();
  }
}
