/** A part of a stream that is read at its reader's pace. */
export interface Part {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Reads what is left of it and discards it. */
  skip(): Promise<void>;
}

const lineFeed = 0x0a;

/** Reads a stream by lines and by counts. All throw RangeError if the stream ends too early. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array, unknown>;
  #held: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#source = chunks[Symbol.asyncIterator]();
  }

  /** Whether nothing is left of it. */
  async isAtEnd(): Promise<boolean> {
    return !(await this.#fill());
  }

  async exactly(bytes: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let left = bytes; left > 0;) {
      const piece = await this.#some(left);
      pieces.push(piece);
      left -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  /** The next line without its line feed. @throws RangeError when it is longer */
  async line(maxBytes: number): Promise<string> {
    const pieces: Buffer[] = [];
    for (let length = 0; ;) {
      if (!(await this.#fill())) throw new RangeError("the stream ended too early");
      const end = this.#held.indexOf(lineFeed);
      length += end < 0 ? this.#held.length : end;
      if (length > maxBytes) throw new RangeError("a line is too long");
      if (end < 0) pieces.push(await this.#some(this.#held.length));
      else {
        pieces.push((await this.#some(end + 1)).subarray(0, end));
        return Buffer.concat(pieces).toString("utf8");
      }
    }
  }

  take(bytes: number): Part {
    let left = bytes;
    const chunks = async function* (this: ByteReader): AsyncGenerator<Uint8Array, void, undefined> {
      while (left > 0) {
        const piece = await this.#some(left);
        left -= piece.length;
        yield piece;
      }
    }.bind(this);
    return {
      chunks: { [Symbol.asyncIterator]: chunks },
      skip: async () => {
        for await (const _ of { [Symbol.asyncIterator]: chunks }) {
          // Only its end counts.
        }
      },
    };
  }

  /** Reads to the end. @throws RangeError when there is more than so many bytes */
  async rest(maxBytes: number): Promise<void> {
    let left = maxBytes - this.#held.length;
    for (let next = await this.#source.next(); next.done !== true; next = await this.#source.next()) {
      left -= next.value.length;
      if (left < 0) throw new RangeError("it does not end");
    }
  }

  /** Closes the stream; the rest is not needed. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #some(maxBytes: number): Promise<Buffer> {
    if (!(await this.#fill())) throw new RangeError("the stream ended too early");
    const piece = this.#held.subarray(0, maxBytes);
    this.#held = this.#held.subarray(piece.length);
    return piece;
  }

  /** False at the end. */
  async #fill(): Promise<boolean> {
    while (this.#held.length === 0) {
      const result = await this.#source.next();
      if (result.done === true) return false;
      const { value } = result;
      this.#held = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
    return true;
  }
}
