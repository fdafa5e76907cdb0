/** Reads a stream of chunks by lines and by counts. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The next line without its end. @throws RangeError when it is longer, or the stream ends before it does */
  async line(maxBytes: number): Promise<string> {
    const pieces: Uint8Array[] = [];
    for (let length = 0; ;) {
      if (this.#held.length === 0) this.#held = await this.#next();
      const end = this.#held.indexOf(newline);
      length += end < 0 ? this.#held.length : end;
      if (length > maxBytes) throw new RangeError("a line is too long");
      if (end < 0) pieces.push(this.#take(this.#held.length));
      else {
        pieces.push(this.#take(end + 1).subarray(0, end));
        return Buffer.concat(pieces).toString("utf8");
      }
    }
  }

  /** The next bytes in pieces. @throws RangeError when the stream ends before */
  async *bytes(count: number): AsyncGenerator<Uint8Array, void, undefined> {
    for (let left = count; left > 0;) {
      if (this.#held.length === 0) this.#held = await this.#next();
      const piece = this.#take(Math.min(left, this.#held.length));
      left -= piece.length;
      yield piece;
    }
  }

  #take(count: number): Uint8Array {
    const piece = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return piece;
  }

  async #next(): Promise<Uint8Array> {
    const next = await this.#source.next();
    if (next.done === true) throw new RangeError("the stream ended too early");
    return next.value;
  }
}

const newline = 10;
