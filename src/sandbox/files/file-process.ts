import type { CallOptions, Container } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { badAnswer } from "../answers/answer-errors.ts";
import { AnswerStream } from "../answers/answer-stream.ts";
import { failureWords, fileError } from "./file-error.ts";

/** Makes the kernel's error messages English, whatever the image's locale. */
const environment = { LC_ALL: "C" };
/** The first line is a word or a number. */
const maxLineBytes = 32;

/** Where the scripts run. */
export type FileContainer = Pick<Container, "exec" | "isAlive">;

/** A running script of `file-scripts.ts` for one path. All throw what `AnswerStream` throws. */
export class FileProcess {
  readonly #path: string;
  readonly #container: FileContainer;
  readonly #answer: AnswerStream;
  #held: Buffer = Buffer.alloc(0);

  static async start(
    container: FileContainer,
    script: string,
    parameters: readonly [path: string, ...others: string[]],
    { signal }: CallOptions,
  ): Promise<FileProcess> {
    const command = ["sh", "-c", script, "sh", ...parameters];
    const process = await container.exec(
      { command, environment, inheritsEnvironment: false, workingDirectory: "/", concurrent: true },
      { signal },
    );
    const [path] = parameters;
    return new FileProcess(path, container, new AnswerStream(process, { subject: JSON.stringify(path), signal }));
  }

  private constructor(path: string, container: FileContainer, answer: AnswerStream) {
    this.#path = path;
    this.#container = container;
    this.#answer = answer;
  }

  /** The first line of its output, which must match. @throws the script's failure if it ends without one */
  async line(form: RegExp): Promise<string> {
    let text: Buffer = Buffer.alloc(0);
    for (;;) {
      const end = text.subarray(0, maxLineBytes).indexOf(0x0a);
      if (end >= 0) {
        const line = text.toString("latin1", 0, end);
        if (!form.test(line)) return this.#answer.refuse("its first line is none");
        this.#held = text.subarray(end + 1);
        return line;
      }
      if (text.length >= maxLineBytes) return this.#answer.refuse("its first line is none");
      const piece = await this.#answer.next();
      if (piece === null) {
        await this.end();
        throw await this.#failure("it said nothing");
      }
      text = Buffer.concat([text, piece]);
    }
  }

  /** The rest of its output. @throws POLICY_DENIED for more than so many bytes */
  async *content(maxBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
    let left = maxBytes;
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    for (let piece = held.length > 0 ? held : await this.#answer.next(); piece !== null;) {
      left -= piece.length;
      if (left < 0) await this.#answer.refuse(`it has more than the ${maxBytes} bytes that were expected`);
      yield piece;
      piece = await this.#answer.next();
    }
  }

  /**
   * Sends it input, until it takes no more, and waits for its end. `isWhole`: as for `end`.
   * @throws the script's failure
   */
  async feed(chunks: AsyncIterable<Uint8Array>, { isWhole = false } = {}): Promise<void> {
    const exitCode = await this.#answer.feed(chunks, (words) => failureWords(words) !== null);
    await this.#conclude(exitCode, isWhole);
  }

  /** Waits for its end. `isWhole`: nothing may be missing, for any reason. @throws the script's failure */
  async end({ isWhole = false } = {}): Promise<void> {
    const exitCode = await this.#answer.end();
    await this.#conclude(exitCode, isWhole);
  }

  /** @throws POLICY_DENIED always */
  refuse(problem: string): Promise<never> {
    return this.#answer.refuse(problem);
  }

  /** As `AnswerStream.giveUp`. */
  giveUp(): Promise<void> {
    return this.#answer.giveUp();
  }

  async #conclude(exitCode: number, isWhole: boolean): Promise<void> {
    if (exitCode === 0) return;
    if (exitCode > 128) throw badAnswer(this.#path, `signal ${exitCode - 128} ended what was to give it`);
    const words = failureWords(this.#answer.words);
    if (words !== null || this.#answer.words === "") throw await this.#failure(words ?? `exit code ${exitCode}`);
    if (isWhole) throw await this.#failure(this.#answer.words);
  }

  /** What the script's words mean; where they mean nothing, the sandbox may have ended under it. */
  async #failure(said: string): Promise<GloveboxError> {
    const error = fileError(this.#path, said);
    const isAlive = error.errorType !== "INTERNAL" || (await this.#container.isAlive().catch(() => false));
    if (isAlive) return error;
    return new GloveboxError("SANDBOX_LOST", "The sandbox ended while files were moved into or out of it.", {
      context: { path: this.#path },
      cause: error,
    });
  }
}
