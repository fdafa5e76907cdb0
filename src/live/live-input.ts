import { GrowingBuffer } from "../base/streams/growing-buffer.ts";
import { firstLiveCredit, liveCreditPortion, maxLiveBytes } from "../operations/contract/live-messages.ts";

/** Input from a client to a program that takes it at its own pace: never more is buffered than was granted. */
export class LiveInput implements AsyncIterable<Uint8Array> {
  readonly #grant: (bytes: number) => void;
  /** Joined: a client may send a byte in each message. */
  readonly #waiting = new GrowingBuffer();
  #credit = firstLiveCredit;
  #taken = 0;
  #isOver = false;
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();

  /** `grant` lets the client send this many more bytes. */
  constructor(grant: (bytes: number) => void) {
    this.#grant = grant;
  }

  /** @throws RangeError for an empty message, for more than was granted, and after the end */
  receive(bytes: Uint8Array): void {
    if (bytes.length === 0) throw new RangeError("input has at least one byte a message");
    this.#credit -= bytes.length;
    if (this.#credit < 0) throw new RangeError("more input was sent than was granted");
    if (this.#isOver) throw new RangeError("input was sent after its end");
    this.#waiting.append(bytes);
    this.#wake.resolve();
  }

  /** There is no more input. */
  end(): void {
    this.#isOver = true;
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      if (this.#waiting.length > 0) {
        const bytes = this.#waiting.take();
        for (let at = 0; at < bytes.length; at += maxLiveBytes) {
          const piece = bytes.subarray(at, at + maxLiveBytes);
          this.#grantAgain(piece.length);
          yield piece;
        }
      } else if (this.#isOver) return;
      else {
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
      }
    }
  }

  #grantAgain(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken < liveCreditPortion && this.#credit >= liveCreditPortion) return;
    this.#credit += this.#taken;
    this.#grant(this.#taken);
    this.#taken = 0;
  }
}
