import { settlesWithin, throwIfCancelled, untilCancelled } from "../../base/abort.ts";
import { untilWritable } from "../../base/until-writable.ts";
import type { Container, OutputChunk, Process } from "../../engines/engine.ts";
import { failureWords, fileError } from "./file-error.ts";

/** Names of the kernel's errors in English, whatever the image's language is. */
const environment = { LC_ALL: "C" };
const mostWords = 4_000;
/** How long a script that was given up may take to clean up. */
const cleanUpMs = 5_000;

/** A script of `file-scripts.ts` at work on one path. */
export class FileProcess {
  readonly #path: string;
  readonly #process: Process;
  readonly #output: AsyncIterator<OutputChunk, unknown>;
  readonly #signal: AbortSignal | undefined;
  #held: Buffer = Buffer.alloc(0);
  #words = "";
  #hasEnded = false;

  static async start(
    container: Pick<Container, "exec">,
    script: string,
    parameters: readonly [path: string, ...others: string[]],
    signal: AbortSignal | undefined,
  ): Promise<FileProcess> {
    const command = ["sh", "-c", script, "sh", ...parameters];
    const process = await container.exec({ command, environment, workingDirectory: "/", concurrent: true }, { signal });
    return new FileProcess(parameters[0], process, signal);
  }

  private constructor(path: string, process: Process, signal: AbortSignal | undefined) {
    this.#path = path;
    this.#process = process;
    this.#output = process.output[Symbol.asyncIterator]();
    this.#signal = signal;
  }

  /** The first line of its output. @throws the script's failure when it ends without one, CANCELLED */
  async line(): Promise<string> {
    let text: Buffer = Buffer.alloc(0);
    for (;;) {
      const end = text.indexOf(0x0a);
      if (end >= 0) {
        this.#held = text.subarray(end + 1);
        return text.toString("latin1", 0, end);
      }
      const piece = await this.#next();
      if (piece === null) {
        await this.end();
        throw fileError(this.#path, "it said nothing");
      }
      text = Buffer.concat([text, piece]);
    }
  }

  /** The rest of its output. */
  async *content(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let piece = this.#takeHeld() ?? (await this.#next()); piece !== null; piece = await this.#next()) yield piece;
  }

  /** Gives it input, until it does not want any more. */
  async feed(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { stdin } = this.#process;
    const failed = this.#watch();
    failed.catch(() => {
      // Whoever waits for it is told; a source that fails first is told instead.
    });
    for await (const chunk of chunks) {
      throwIfCancelled(this.#signal);
      if (this.#words !== "" || this.#hasEnded) break;
      if (!stdin.write(chunk)) await untilCancelled(Promise.race([untilWritable(stdin), failed]), this.#signal);
    }
    stdin.end();
    await untilCancelled(failed, this.#signal);
  }

  /** Waits for its end. @throws the script's failure */
  async end(): Promise<void> {
    this.#process.stdin.end();
    while ((await this.#next()) !== null) {
      // What it writes is wanted no more.
    }
    const { exitCode } = await untilCancelled(this.#process.exit, this.#signal);
    if (exitCode === 0) return;
    const words = failureWords(this.#words);
    if (words !== null || this.#words === "") throw fileError(this.#path, words ?? `exit code ${exitCode}`);
  }

  /** Gives it up; resolves when it is gone, or does not go. */
  async giveUp(): Promise<void> {
    this.#process.stdin.end();
    await this.#output.return?.();
    if (await settlesWithin(this.#process.exit, cleanUpMs)) return;
    await this.#process.kill("SIGKILL").catch(() => {
      // It ends with its container.
    });
  }

  /** Resolves when it has said what went wrong, or has ended. */
  async #watch(): Promise<void> {
    while (!this.#hasEnded && this.#words === "") await this.#read();
  }

  #takeHeld(): Buffer | null {
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    return held.length === 0 ? null : held;
  }

  /** Null at the end. */
  async #next(): Promise<Buffer | null> {
    while (!this.#hasEnded) {
      const piece = await this.#read();
      if (piece !== null) return piece;
    }
    return null;
  }

  async #read(): Promise<Buffer | null> {
    const result = await untilCancelled(this.#output.next(), this.#signal);
    if (result.done === true) {
      this.#hasEnded = true;
      return null;
    }
    const { value } = result;
    const bytes = Buffer.from(value.bytes.buffer, value.bytes.byteOffset, value.bytes.byteLength);
    if (value.stream === "stdout") return bytes;
    this.#words = (this.#words + bytes.toString("utf8")).slice(0, mostWords);
    return null;
  }
}
