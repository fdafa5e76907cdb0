import { trailingPart } from "../../base/streams/utf8.ts";
import { kibibyte } from "../../base/bytes.ts";

/** Lines that were read at once. */
export interface SplitLines {
  /** With a line feed between two. */
  readonly text: string;
  readonly count: number;
  /** It is part of a line that continues in the next call. */
  readonly partial: boolean;
}

/** Most bytes of one entry: a longer line is cut into several (SPEC LG1). */
const maxLineBytes: number = 16 * kibibyte;

/** Most of what is given out at once. */
const together = { bytes: 64 * kibibyte, lines: 1_000 } as const;

const lineFeed = 0x0a;

/** Cuts the bytes of one stream into lines, never in the middle of a character, and holds no more than one line's part. */
export class LineSplitter {
  readonly #onLines: (lines: SplitLines) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(onLines: (lines: SplitLines) => void) {
    this.#onLines = onLines;
  }

  write(bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const given = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    // Lines from `begin` to `start` wait to be given out together.
    let [begin, start, count] = [0, 0, 0];
    for (;;) {
      const found = given.indexOf(lineFeed, start);
      const end = found < 0 ? given.length : found;
      const isTooMuch = end - begin > together.bytes || count === together.lines || end - start > maxLineBytes;
      if (found < 0 || isTooMuch) {
        if (count > 0) this.#give(given.subarray(begin, start - 1), count);
        start = this.#cut(given, start, end);
        [begin, count] = [start, 0];
      }
      if (found < 0) break;
      start = end + 1;
      count += 1;
    }
    // A copy: the chunk is the engine's.
    this.#rest = Buffer.from(given.subarray(start));
  }

  /** Takes bytes without giving out their lines; to how many lines ended in them. */
  skip(bytes: Uint8Array): number {
    const last = bytes.lastIndexOf(lineFeed);
    let count = 0;
    for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) count += 1;
    if (last >= 0) this.#rest = Buffer.alloc(0);
    this.write(bytes.subarray(last + 1));
    return count;
  }

  /** The stream has ended: what has no line end is a line too. */
  end(): void {
    if (this.#rest.length > 0) this.#onLines({ text: textOf(this.#rest), count: 1, partial: false });
    this.#rest = Buffer.alloc(0);
  }

  /** Gives out the parts of a line that is too long, as far as more of it follows; to where its last part begins. */
  #cut(given: Buffer, from: number, end: number): number {
    let start = from;
    while (end - start > maxLineBytes) {
      const part = given.subarray(start, start + maxLineBytes);
      const length = part.length - trailingPart(part);
      this.#onLines({ text: textOf(part.subarray(0, length)), count: 1, partial: true });
      start += length;
    }
    return start;
  }

  /** Gives out whole lines; the end of the last is not among the bytes. */
  #give(lines: Buffer, count: number): void {
    const text = textOf(lines).replaceAll("\r\n", "\n");
    this.#onLines({ text: text.endsWith("\r") ? text.slice(0, -1) : text, count, partial: false });
  }
}

function textOf(bytes: Buffer): string {
  // A database's text holds no NUL.
  return bytes.toString("utf8").replaceAll("\0", "\u2400");
}
