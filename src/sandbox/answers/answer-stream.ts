import { settlesWithin, throwIfCancelled } from "../../base/abort.ts";
import { mebibyte } from "../../base/bytes.ts";
import { untilWritable } from "../../base/streams/until-writable.ts";
import type { CallOptions, OutputChunk, Process } from "../../engines/engine.ts";
import { badAnswer, lostAnswer, noAnswer } from "./answer-errors.ts";
import { Patience, PatienceLost } from "./patience.ts";

/** How much of standard error is kept. */
const maxWords = 4_000;
/** How much may arrive there: a line for each of 100,000 files that tar could not read. */
const maxWordsBytes: number = 16 * mebibyte;
/** How long an aborted program may take to clean up, and how much of its output is discarded meanwhile. */
const cleanUpMs = 5_000;
const cleanUpBytes: number = 64 * mebibyte;

/** How much may still arrive when no more is expected. */
const maxRestBytes = 65_536;

export interface AnswerOptions extends CallOptions {
  /** Its subject, as named in errors. */
  readonly subject: string;
}

/**
 * The streams of a small program of ours inside a sandbox, where programs of the same user may stop it, end it, write
 * to its streams or answer in its place. So its output is untrusted, each wait has a limit (see `Patience`) and so has
 * each stream; exceeding one leads to SIGKILL. Expected bytes are counted by the reader.
 *
 * All throw TIMEOUT if it does not answer, POLICY_DENIED for an answer that cannot be its own, CANCELLED, and
 * SANDBOX_LOST, also if it could not be killed: then the sandbox must not be used again.
 */
export class AnswerStream {
  readonly #process: Process;
  readonly #output: AsyncIterator<OutputChunk, unknown>;
  readonly #options: AnswerOptions;
  readonly #patience = new Patience();
  #wordsBytes = 0;
  #words = "";
  #hasEnded = false;
  #given: Promise<void> | undefined;

  constructor(process: Process, options: AnswerOptions) {
    this.#process = process;
    this.#output = process.output[Symbol.asyncIterator]();
    this.#options = options;
  }

  /** The beginning of its standard error so far. */
  get words(): string {
    return this.#words;
  }

  /** The next bytes of its standard output; null at its end. */
  async next(): Promise<Buffer | null> {
    while (!this.#hasEnded) {
      const piece = await this.#read();
      if (piece !== null) return piece;
    }
    return null;
  }

  /**
   * Sends it input, until `chunks` end, or it has ended, or its output is a failure (`isFailure`) that means it takes
   * no more; then closes its input and waits for its end. Resolves to its exit code.
   */
  async feed(chunks: AsyncIterable<Uint8Array>, isFailure: (words: string) => boolean): Promise<number> {
    const { stdin } = this.#process;
    const isOver = (): boolean => this.#hasEnded || isFailure(this.#words);
    const over = this.#watch(isOver);
    over.catch(() => {
      // Awaited below, unless the source fails first.
    });
    for await (const chunk of chunks) {
      throwIfCancelled(this.#options.signal);
      if (isOver()) break;
      if (!stdin.write(chunk)) await this.#wait(Promise.race([untilWritable(stdin), over]));
      this.#patience.earn(chunk.length);
    }
    stdin.end();
    await this.#wait(over);
    return this.end();
  }

  /** Waits for its end, and discards the little that may still arrive; resolves to its exit code. */
  async end(): Promise<number> {
    this.#process.stdin.end();
    let left = maxRestBytes;
    for (let piece = await this.next(); piece !== null; piece = await this.next()) {
      left -= piece.length;
      if (left < 0) await this.refuse("it does not end");
    }
    return (await this.#wait(this.#process.exit)).exitCode;
  }

  /** The error for an answer that the program would not give; kills it. */
  async refuse(problem: string): Promise<never> {
    await this.#kill();
    throw badAnswer(this.#options.subject, problem);
  }

  /** Aborts it; resolves when it is gone. @throws SANDBOX_LOST if it cannot be ended */
  giveUp(): Promise<void> {
    this.#given ??= this.#giveUp();
    return this.#given;
  }

  async #giveUp(): Promise<void> {
    this.#process.stdin.end();
    const endless = Promise.withResolvers<boolean>();
    const gone = Promise.all([this.#process.exit, this.#throwAway(() => endless.resolve(false))]);
    if (!(await Promise.race([settlesWithin(gone, cleanUpMs), endless.promise]))) await this.#kill();
  }

  /** Reads to the end, or up to the limit of an endless stream. */
  async #throwAway(onEndless: () => void): Promise<void> {
    for (let left = cleanUpBytes; !this.#hasEnded;) {
      const next = await this.#output.next();
      if (next.done === true) return;
      left -= next.value.bytes.length;
      if (left < 0) return onEndless();
    }
  }

  async #watch(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      if ((await this.#read({ isPatient: true })) !== null) await this.refuse("it says more than it was asked");
    }
  }

  /** Null at the end, and for standard error. */
  async #read({ isPatient = false } = {}): Promise<Buffer | null> {
    const coming = this.#output.next();
    const next = isPatient ? await coming : await this.#wait(coming);
    if (next.done === true) {
      this.#hasEnded = true;
      return null;
    }
    const { value } = next;
    const bytes = Buffer.from(value.bytes.buffer, value.bytes.byteOffset, value.bytes.byteLength);
    if (value.stream === "stdout") {
      this.#patience.earn(bytes.length);
      return bytes;
    }
    this.#wordsBytes += bytes.length;
    if (this.#wordsBytes > maxWordsBytes) await this.refuse("it complains without end");
    if (this.#words.length < maxWords) this.#words = (this.#words + bytes.toString("utf8")).slice(0, maxWords);
    return null;
  }

  async #wait<T>(promise: Promise<T>): Promise<T> {
    try {
      return await this.#patience.wait(promise, this.#options.signal);
    } catch (error) {
      if (!(error instanceof PatienceLost)) throw error;
      await this.#kill();
      throw noAnswer(this.#options.subject);
    }
  }

  /** Later calls of `giveUp` do nothing. */
  #kill(): Promise<void> {
    // An engine that cannot deliver its output does not let it end.
    void this.#output.return?.();
    const killed = this.#process.kill("SIGKILL").catch((error: unknown) => {
      throw lostAnswer(this.#options.subject, error);
    });
    this.#given = killed;
    return killed;
  }
}
