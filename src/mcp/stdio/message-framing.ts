import { GrowingBuffer } from "../../base/streams/growing-buffer.ts";

/** The items of a stream of lines. */
export type Frame =
  | { readonly type: "line"; readonly bytes: Uint8Array }
  /** A line that was longer than allowed and was discarded; reported at its end. */
  | { readonly type: "too_long"; readonly length: number };

const newline = 0x0a;

/** Splits a byte stream into lines, buffering at most `maxBytes` of an unfinished one; empty lines are skipped. */
export class MessageFraming {
  readonly #maxBytes: number;
  readonly #line = new GrowingBuffer();
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#append(chunk.subarray(start, end));
      frames.push(...this.end());
      start = end + 1;
    }
    this.#append(chunk.subarray(start));
    return frames;
  }

  /** What remained after the last line feed. */
  end(): Frame[] {
    const frame: Frame =
      this.#length > this.#maxBytes
        ? { type: "too_long", length: this.#length }
        : { type: "line", bytes: this.#line.take() };
    this.#length = 0;
    return frame.type === "line" && isBlank(frame.bytes) ? [] : [frame];
  }

  #append(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#length > this.#maxBytes) this.#line.take();
    else this.#line.append(bytes);
  }
}

/** Spaces, tabs and carriage returns only. */
function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
