import { firstLiveCredit, liveCreditPortion, liveStreams } from "../../operations/contract/live-messages.ts";
import { strangeAnswer } from "../network-failure.ts";

export interface LiveOutputOptions {
  /** Awaited before more is requested. */
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
  /** Lets the server send this many more bytes. */
  readonly onGrant: (bytes: number) => void;
  /** The reader has failed. */
  readonly onFailed: (error: unknown) => void;
}

/** Output in order of arrival, at the reader's pace; never more is buffered than was granted. */
export class LiveOutput {
  readonly #options: LiveOutputOptions;
  #credit = firstLiveCredit;
  #taken = 0;
  #isDiscarded = false;
  #last: Promise<void> = Promise.resolve();

  constructor(options: LiveOutputOptions) {
    this.#options = options;
  }

  /** One message. @throws NETWORK_ERROR for more than was granted, and for anything that is not output */
  receive(message: Uint8Array): void {
    const bytes = message.subarray(1);
    this.#credit -= bytes.length;
    if (this.#credit < 0) throw strangeAnswer("more output than was granted");
    const stream = message[0] === liveStreams.stdout ? "stdout" : "stderr";
    if (stream === "stderr" && message[0] !== liveStreams.stderr) throw strangeAnswer("output of no stream");
    this.between(async () => {
      if (!this.#isDiscarded) await this.#options.onOutput(stream, bytes);
      this.#take(bytes.length);
    });
  }

  /** Something to do once all output before it has been read. */
  between(work: () => unknown): void {
    this.#last = this.#last.then(async () => void (await work()));
    this.#last.catch(this.#options.onFailed);
  }

  /** The reader gets nothing more. */
  discard(): void {
    this.#isDiscarded = true;
  }

  #take(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken < liveCreditPortion) return;
    this.#credit += this.#taken;
    this.#options.onGrant(this.#taken);
    this.#taken = 0;
  }
}
