import { firstLiveCredit, liveCreditPortion } from "../operations/contract/live-messages.ts";

/** Input from a client to a program that takes it at its own pace: never more is buffered than was granted. */
export class LiveInput implements AsyncIterable<Uint8Array> {
  readonly #grant: (bytes: number) => void;
  readonly #chunks: Uint8Array[] = [];
  #credit = firstLiveCredit;
  #taken = 0;
  #isOver = false;
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();

  /** `grant` lets the client send this many more bytes. */
  constructor(grant: (bytes: number) => void) {
    this.#grant = grant;
  }

  /** @throws RangeError for more than was granted, and after the end */
  receive(bytes: Uint8Array): void {
    this.#credit -= bytes.length;
    if (this.#credit < 0) throw new RangeError("more input was sent than was granted");
    if (this.#isOver) throw new RangeError("input was sent after its end");
    this.#chunks.push(bytes);
    this.#wake.resolve();
  }

  /** There is no more input. */
  end(): void {
    this.#isOver = true;
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#take(chunk.length);
        yield chunk;
      } else if (this.#isOver) return;
      else {
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
      }
    }
  }

  #take(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken < liveCreditPortion && this.#chunks.length > 0) return;
    this.#credit += this.#taken;
    this.#grant(this.#taken);
    this.#taken = 0;
  }
}
