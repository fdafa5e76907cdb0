import type { OutputStream } from "../../engine.ts";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { Writable } from "node:stream";
import { OutputQueue } from "../../output-queue.ts";

/** How long the streams of an ended program may be silent before we assume that another process holds them. */
const silenceMs = 500;

/** A program's three streams, which are there before it is launched. */
export class PreloadStreams {
  readonly stdin: Writable;
  readonly output: OutputQueue;
  readonly #launched = Promise.withResolvers<ChildProcessWithoutNullStreams | null>();
  #child: ChildProcessWithoutNullStreams | undefined;

  constructor() {
    this.output = new OutputQueue(() => this.#resume());
    this.stdin = this.#stdin();
  }

  /** The program runs now. */
  follow(child: ChildProcessWithoutNullStreams): void {
    this.#child = child;
    child.stdin.on("error", () => {
      // A program may end without reading all its input.
    });
    for (const stream of ["stdout", "stderr"] as const) this.#read(child, stream);
    child.once("close", () => this.output.end());
    this.#launched.resolve(child);
  }

  /** As `PreparedProgram.finish`: what is read from them afterwards delays nothing. */
  async finish(): Promise<void> {
    this.#launched.resolve(null);
    if (this.#child === undefined) this.#destroy();
    else void this.#endStreams(this.#child);
  }

  /** Tells something of the engine's own on standard error. */
  note(text: string): void {
    this.output.push({ stream: "stderr", bytes: Buffer.from(`${text}\n`) });
  }

  #read(child: ChildProcessWithoutNullStreams, stream: OutputStream): void {
    child[stream].on("data", (bytes: Buffer) => {
      this.output.push({ stream, bytes });
      if (this.output.isFull) for (const paused of [child.stdout, child.stderr]) paused.pause();
    });
    child[stream].on("error", () => {
      // Its end follows.
    });
  }

  #resume(): void {
    for (const stream of [this.#child?.stdout, this.#child?.stderr]) if (stream && !stream.destroyed) stream.resume();
  }

  /**
   * A process that escaped may hold them open: silence counts as their end, once everything that arrived has been read.
   */
  async #endStreams(child: ChildProcessWithoutNullStreams): Promise<void> {
    let lastBytes = -1;
    for (;;) {
      const closed = child.stdout.closed && child.stderr.closed;
      const bytes = bytesRead(child);
      if (closed || (bytes === lastBytes && !this.output.isFull)) break;
      lastBytes = bytes;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, silenceMs);
        child.once("close", () => {
          clearTimeout(timer);
          resolve();
        });
      });
      // After a pause of our process the timer fires before data that arrived meanwhile.
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
    this.#destroy();
  }

  #destroy(): void {
    this.#child?.stdin?.destroy();
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
    this.output.end();
  }

  #stdin(): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        void this.#launched.promise.then((child) => {
          if (child?.stdin?.writable) child.stdin.write(chunk, () => done());
          else done();
        });
      },
      final: (done) => {
        void this.#launched.promise.then((child) => {
          child?.stdin?.end();
          done();
        });
      },
    });
  }
}

function bytesRead({ stdout, stderr }: ChildProcessWithoutNullStreams): number {
  return [stdout, stderr].reduce((sum, stream) => sum + ((stream as { bytesRead?: number } | null)?.bytesRead ?? 0), 0);
}
