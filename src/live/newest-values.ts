/** Buffers values for a reader that may be slower: if more than `max` are waiting, only the newest are kept. */
export class NewestValues<T> implements AsyncIterable<T> {
  readonly #max: number;
  #waiting: T[] = [];
  #isOver = false;
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(max: number) {
    this.#max = max;
  }

  push(value: T): void {
    this.#waiting = [...this.#waiting, value].slice(-this.#max);
    this.#wake.resolve();
  }

  end(): void {
    this.#isOver = true;
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const [value, ...rest] = this.#waiting;
      this.#waiting = rest;
      if (value !== undefined) yield value;
      else if (this.#isOver) return;
      else {
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
      }
    }
  }
}
