import { ConnectError } from "../refusal.ts";

/** What comes for a program, in order, until it is closed; what waits is bounded. */
export class InputQueue<Item> implements AsyncIterable<Item> {
  readonly #maxSize: number;
  readonly #sizeOf: (item: Item) => number;
  readonly #waiting: Item[] = [];
  #size = 0;
  #isClosed = false;
  #wake: (() => void) | undefined;

  constructor(maxSize: number, sizeOf: (item: Item) => number = () => 1) {
    this.#maxSize = maxSize;
    this.#sizeOf = sizeOf;
  }

  /** @throws ConnectError if it is closed, or if the program takes too little of what waits */
  push(item: Item): void {
    if (this.#isClosed) throw new ConnectError("internal", "the input is closed");
    const size = this.#sizeOf(item);
    if (this.#size + size > this.#maxSize) {
      throw new ConnectError("resource_exhausted", "the program does not read its input; retry when it does");
    }
    this.#size += size;
    this.#waiting.push(item);
    this.#wake?.();
  }

  /** What waits still comes; harmless when repeated. */
  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    for (;;) {
      const item = this.#waiting.shift();
      if (item !== undefined) {
        this.#size -= this.#sizeOf(item);
        yield item;
      } else if (this.#isClosed) return;
      else {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await promise;
        this.#wake = undefined;
      }
    }
  }
}
