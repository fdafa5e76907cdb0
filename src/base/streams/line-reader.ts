import { GrowingBuffer } from "./collected-bytes.ts";

export interface Line {
  /** Without the line feed; of a line that is too long the beginning, or nothing. Valid until the chunk it came in is reused. */
  readonly bytes: Buffer;
  /** Bytes that the whole line has. */
  readonly length: number;
  readonly isTooLong: boolean;
}

const lineFeed = 0x0a;

/**
 * Cuts a stream of bytes, fed piece by piece, into lines, and holds at most `maxBytes` of an unfinished one. Only a line feed
 * ends a line: other separators may stand inside JSON. No character is cut, as none has a line feed in it.
 */
export class LineReader {
  readonly #maxBytes: number;
  readonly #keepsBeginning: boolean;
  readonly #held = new GrowingBuffer();
  #length = 0;

  /** `keepsBeginning`: of a line that is too long its first `maxBytes` are given; default: nothing of it. */
  constructor(maxBytes: number, { keepsBeginning = false }: { readonly keepsBeginning?: boolean } = {}) {
    this.#maxBytes = maxBytes;
    this.#keepsBeginning = keepsBeginning;
  }

  /** The lines that end in this chunk. */
  push(chunk: Uint8Array): readonly Line[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const lines: Line[] = [];
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      lines.push(this.#line(bytes.subarray(start, end)));
      start = end + 1;
    }
    this.#hold(bytes.subarray(start));
    return lines;
  }

  /** The stream is over: what has no line feed is a line too, unless there is nothing. */
  end(): readonly Line[] {
    return this.#length === 0 ? [] : [this.#line(Buffer.alloc(0))];
  }

  #line(last: Buffer): Line {
    const isWhole = this.#length === 0 && last.length <= this.#maxBytes;
    if (!isWhole) this.#hold(last);
    const length = isWhole ? last.length : this.#length;
    const bytes = isWhole ? last : this.#held.take();
    this.#length = 0;
    return { bytes, length, isTooLong: length > this.#maxBytes };
  }

  #hold(piece: Buffer): void {
    const room = Math.max(0, this.#maxBytes - this.#length);
    this.#length += piece.length;
    if (this.#keepsBeginning || this.#length <= this.#maxBytes) this.#held.append(piece.subarray(0, room));
    else this.#held.take();
  }
}
