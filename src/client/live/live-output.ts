import { firstLiveCredit, liveCreditPortion, liveStreams } from "../../operations/contract/live-messages.ts";
import { strangeAnswer } from "../network-failure.ts";

export interface LiveOutputOptions {
  /** Awaited before more is asked for. */
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
  /** The server may send so many bytes more. */
  readonly onGrant: (bytes: number) => void;
  /** The reader has failed. */
  readonly onFailed: (error: unknown) => void;
}

/** Output in the order in which it came, at its reader's pace: never more waits than was granted. */
export class LiveOutput {
  readonly #options: LiveOutputOptions;
  #credit = firstLiveCredit;
  #taken = 0;
  #isDiscarded = false;
  #last: Promise<void> = Promise.resolve();

  constructor(options: LiveOutputOptions) {
    this.#options = options;
  }

  /** One message. @throws NETWORK_ERROR for more than was granted, and for what is no output */
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

  /** Something that happens when the output before it has been read. */
  between(work: () => unknown): void {
    this.#last = this.#last.then(async () => void (await work()));
    this.#last.catch(this.#options.onFailed);
  }

  /** Nothing more is given to the reader. */
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
