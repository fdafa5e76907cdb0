import type { OutputChunk } from "./engine.ts";

/** Bytes that wait for the consumer before the source is held up. */
const highWaterBytes = 262_144;

/** What a chunk costs beside its bytes, so that a flood of tiny ones is bounded too. */
const chunkOverheadBytes = 64;

/** Hands chunks from a source that can be held up to one consumer. */
export class OutputQueue implements AsyncIterable<OutputChunk> {
  readonly #onRoom: () => void;
  #chunks: OutputChunk[] = [];
  #bytes = 0;
  #ended = false;
  #discarding = false;
  #waiting: ((result: IteratorResult<OutputChunk, undefined>) => void)[] = [];

  /** `onRoom` is called when the queue, once full, can take more. */
  constructor(onRoom: () => void) {
    this.#onRoom = onRoom;
  }

  get isFull(): boolean {
    return this.#bytes >= highWaterBytes;
  }

  push(chunk: OutputChunk): void {
    if (this.#ended || this.#discarding) return;
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) return waiting({ value: chunk, done: false });
    this.#chunks.push(chunk);
    this.#bytes += chunk.bytes.length + chunkOverheadBytes;
  }

  /** What waits can still be read. */
  end(): void {
    this.#ended = true;
    for (const waiting of this.#waiting.splice(0)) waiting({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<OutputChunk, undefined> {
    return {
      next: () => this.#next(),
      // A consumer that turns away must not hold the program up: the rest is dropped.
      return: () => {
        this.#discarding = true;
        this.#chunks = [];
        this.#bytes = 0;
        this.#onRoom();
        return Promise.resolve({ value: undefined, done: true });
      },
    };
  }

  #next(): Promise<IteratorResult<OutputChunk, undefined>> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      const wasFull = this.isFull;
      this.#bytes -= chunk.bytes.length + chunkOverheadBytes;
      if (wasFull && !this.isFull) this.#onRoom();
      return Promise.resolve({ value: chunk, done: false });
    }
    if (this.#ended || this.#discarding) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
