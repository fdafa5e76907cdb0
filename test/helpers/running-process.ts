import type { OutputStream, Process, ProcessExit } from "../../src/engines/engine.ts";

/** Everything that a process did, once it has ended. */
export interface FinishedProcess extends ProcessExit {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** Reads everything a process writes while it runs, and lets a test wait for a piece of it. */
export class RunningProcess {
  readonly process: Process;
  readonly #chunks: Record<OutputStream, Uint8Array[]> = { stdout: [], stderr: [] };
  readonly #ended: Promise<void>;
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(process: Process) {
    this.process = process;
    this.#ended = this.#read();
    // finish() checks both again; a test that never calls it must not fail because of them.
    this.#ended.catch(() => undefined);
    process.exit.catch(() => undefined);
  }

  bytes(stream: OutputStream): Buffer {
    return Buffer.concat(this.#chunks[stream]);
  }

  text(stream: OutputStream): string {
    return this.bytes(stream).toString("utf8");
  }

  /** Resolves as soon as the stream contains the text (raw bytes); fails when the output ends without it. */
  async until(stream: OutputStream, expected: string | Uint8Array): Promise<void> {
    const ended = this.#ended.then(() => true);
    let over = false;
    const wanted = Buffer.from(expected);
    while (!this.bytes(stream).includes(wanted)) {
      if (over) throw new Error(`The output ended without ${JSON.stringify(expected)}: ${this.#shown()}`);
      over = await Promise.race([ended, this.#wake.promise.then(() => false)]);
    }
  }

  /** Sends end-of-file after the input; resolves to everything the process did once it and its output have ended. */
  async finish(input?: string | Uint8Array): Promise<FinishedProcess> {
    if (input === undefined) this.process.stdin.end();
    else this.process.stdin.end(input);
    const [{ exitCode }] = await Promise.all([this.process.exit, this.#ended]);
    return { exitCode, stdout: this.bytes("stdout"), stderr: this.bytes("stderr") };
  }

  async #read(): Promise<void> {
    for await (const { stream, bytes } of this.process.output) {
      this.#chunks[stream].push(bytes);
      this.#wake.resolve();
      this.#wake = Promise.withResolvers();
    }
  }

  #shown(): string {
    return JSON.stringify({ stdout: this.text("stdout").slice(-500), stderr: this.text("stderr").slice(-500) });
  }
}
