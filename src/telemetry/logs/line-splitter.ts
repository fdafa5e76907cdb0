import { trailingPart } from "../../base/streams/utf8.ts";
import { kibibyte } from "../../base/bytes.ts";

/** Receives a line, or a part of one that goes on in the next call. */
export type OnLine = (text: string, partial: boolean) => void;

/** Most bytes of one entry: a longer line is cut into several (SPEC LG1). */
const maxLineBytes: number = 16 * kibibyte;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Cuts the bytes of one stream into lines, never in the middle of a character, and holds no more than one line's part. */
export class LineSplitter {
  readonly #onLine: OnLine;
  #rest: Buffer = Buffer.alloc(0);

  constructor(onLine: OnLine) {
    this.#onLine = onLine;
  }

  write(bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const given = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (;;) {
      const end = given.indexOf(lineFeed, start);
      start = this.#cut(given, start, end < 0 ? given.length : end);
      if (end < 0) break;
      this.#line(given, start, end);
      start = end + 1;
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
    if (this.#rest.length > 0) this.#onLine(textOf(this.#rest), false);
    this.#rest = Buffer.alloc(0);
  }

  /** Gives out the parts of a line that is too long, as far as more of it follows; to where its last part begins. */
  #cut(given: Buffer, from: number, end: number): number {
    let start = from;
    while (end - start > maxLineBytes) {
      const part = given.subarray(start, start + maxLineBytes);
      const length = part.length - trailingPart(part);
      this.#onLine(textOf(part.subarray(0, length)), true);
      start += length;
    }
    return start;
  }

  #line(given: Buffer, start: number, end: number): void {
    const last = end > start && given[end - 1] === carriageReturn ? end - 1 : end;
    this.#onLine(textOf(given.subarray(start, last)), false);
  }
}

function textOf(bytes: Buffer): string {
  // A database's text holds no NUL.
  return bytes.toString("utf8").replaceAll("\0", "\u2400");
}
