import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { Writable } from "node:stream";
import type { OutputStream, Process, ProcessExit, ProcessSignal } from "../../engine.ts";
import { OutputQueue } from "../../output-queue.ts";
import { lostError } from "../local-process.ts";

/** How long the streams of an ended program may stay silent before they are taken for somebody else's. */
const silenceMs = 500;

/** A program's three streams and its end; they can be had before it is launched. */
export class PreloadProcess implements Process {
  readonly stdin: Writable;
  readonly output: OutputQueue;
  readonly exit: Promise<ProcessExit>;
  readonly #exit = Promise.withResolvers<ProcessExit>();
  readonly #launched = Promise.withResolvers<ChildProcessWithoutNullStreams | null>();
  #child: ChildProcessWithoutNullStreams | undefined;
  #kill: ((signal: "SIGTERM" | "SIGKILL") => Promise<void>) | undefined;

  constructor() {
    this.exit = this.#exit.promise;
    this.exit.catch(() => {
      // Whoever awaits `exit` is told; nobody may, and that must not end the server.
    });
    this.output = new OutputQueue(() => this.#resume());
    this.stdin = this.#stdin();
  }

  /** The program runs now; `kill` ends it with all that it started. */
  follow(child: ChildProcessWithoutNullStreams, kill: (signal: "SIGTERM" | "SIGKILL") => Promise<void>): void {
    this.#child = child;
    this.#kill = kill;
    child.stdin.on("error", () => {
      // A program may end without reading all its input.
    });
    for (const stream of ["stdout", "stderr"] as const) this.#read(child, stream);
    child.once("close", () => this.output.end());
    this.#launched.resolve(child);
  }

  /** The program has ended and so has all that it started; what its streams still hold can be read. */
  ended(exitCode: number): void {
    this.#exit.resolve({ exitCode });
    void this.#endStreams();
  }

  /** Tells something of the engine's own on standard error. */
  note(text: string): void {
    this.output.push({ stream: "stderr", bytes: Buffer.from(`${text}\n`) });
  }

  /** It was never launched, or is torn down with its container. */
  abandon(): void {
    this.#exit.reject(lostError());
    this.#launched.resolve(null);
    this.#destroy();
  }

  async kill(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    await this.#kill?.(signal);
  }

  /** Without effect on one that has ended. */
  async signal(signal: ProcessSignal): Promise<void> {
    (await this.#launched.promise)?.kill(signal);
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

  /** Somebody who got away may hold them open: silence is their end, as soon as all that came has been read. */
  async #endStreams(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
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
      // After a pause of ours the timer comes before what had arrived meanwhile.
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
