import type { Readable } from "node:stream";

export interface ClientInputOptions {
  /** Maximum bytes buffered for the server. */
  readonly maxWaitingBytes: number;
  /** Called once, when the client has closed its end. */
  readonly onLeft: () => void;
  /** Called once, if the buffer overflows; what comes after that is dropped. */
  readonly onTooMuch: () => void;
}

/** What the client sends, read as it comes, so that its end is noticed even while the server takes nothing. */
export class ClientInput implements AsyncIterable<Uint8Array> {
  readonly #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isOver = false;
  #wake = (): void => undefined;

  constructor(stream: Readable, { maxWaitingBytes, onLeft, onTooMuch }: ClientInputOptions) {
    const end = (): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#wake();
      onLeft();
    };
    stream.on("data", (chunk: Uint8Array) => {
      if (this.#isOver) return;
      this.#waiting.push(chunk);
      this.#waitingBytes += chunk.length;
      this.#wake();
      if (this.#waitingBytes <= maxWaitingBytes) return;
      this.#isOver = true;
      onTooMuch();
    });
    for (const event of ["end", "close", "error"] as const) stream.once(event, end);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const chunk = this.#waiting.shift();
      if (chunk !== undefined) {
        this.#waitingBytes -= chunk.length;
        yield chunk;
        continue;
      }
      if (this.#isOver) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
  }
}
