import { StringDecoder } from "node:string_decoder";

type StreamName = "stdout" | "stderr";

/** How long the beginning of a line waits for its end. */
const holdMs = 50;
/** Characters of a line that wait; more are sent without its end. */
const maxHeld = 8_192;

/**
 * A program's output as texts: whole lines as they come, so that what was printed at once arrives at once; the beginning of
 * a line a moment later, if its end has not come by then. Bytes that are not UTF-8 become replacement characters.
 */
export class OutputTexts {
  readonly #send: (stream: StreamName, text: string) => Promise<void>;
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  readonly #held = { stdout: "", stderr: "" };
  #timer: NodeJS.Timeout | undefined;

  /** `send` is awaited, so that a slow reader slows the program. */
  constructor(send: (stream: StreamName, text: string) => Promise<void>) {
    this.#send = send;
  }

  async take(stream: StreamName, bytes: Uint8Array): Promise<void> {
    const text = this.#held[stream] + this.#decoders[stream].write(bytes);
    const lineEnd = text.lastIndexOf("\n") + 1;
    const end = text.length - lineEnd > maxHeld ? text.length : lineEnd;
    this.#held[stream] = text.slice(end);
    this.#timer ??= setTimeout(() => void this.#sendHeld(), holdMs).unref();
    if (end > 0) await this.#send(stream, text.slice(0, end));
  }

  /** Sends all that was held, when no more comes. */
  async end(): Promise<void> {
    for (const stream of ["stdout", "stderr"] as const) this.#held[stream] += this.#decoders[stream].end();
    await this.#sendHeld();
  }

  async #sendHeld(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const stream of ["stdout", "stderr"] as const) {
      const text = this.#held[stream];
      this.#held[stream] = "";
      if (text !== "") await this.#send(stream, text);
    }
  }
}
