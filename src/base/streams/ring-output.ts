import { leadingPart, trailingPart } from "./utf8.ts";

/** A part of a stream as text. */
export interface StreamPart {
  /** Where it begins, in bytes of the whole stream. */
  readonly offset: number;
  readonly text: string;
  /** Where the next part begins. */
  readonly nextOffset: number;
}

/** What it takes from the first byte on; until then nothing. */
const firstBytes = 256;

/** Keeps the newest bytes of a stream up to a cap and knows their place in it, so that memory stays bounded. */
export class RingOutput {
  readonly #capBytes: number;
  #ring: Buffer = Buffer.alloc(0);
  #totalBytes = 0;

  constructor(capBytes: number) {
    this.#capBytes = capBytes;
  }

  append(bytes: Uint8Array): void {
    const { length } = bytes;
    if (length === 0) return;
    this.#grow(this.#totalBytes + length);
    const size = this.#ring.length;
    const kept = length > size ? bytes.subarray(length - size) : bytes;
    const start = (this.#totalBytes + length - kept.length) % size;
    const head = Math.min(kept.length, size - start);
    this.#ring.set(kept.subarray(0, head), start);
    this.#ring.set(kept.subarray(head), 0);
    this.#totalBytes += length;
  }

  /** Bytes that came in all. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** Bytes that had to make room: where what is kept begins. */
  get droppedBytes(): number {
    return Math.max(0, this.#totalBytes - this.#ring.length);
  }

  get keptBytes(): number {
    return this.#totalBytes - this.droppedBytes;
  }

  /** All that is kept, decoded as UTF-8; a character that lost its beginning is left out, invalid bytes become U+FFFD. */
  text(): string {
    return this.part({ offset: 0, isOver: true }).text;
  }

  /**
   * What is kept from an offset on, at most `maxBytes` of it. No character is cut: what begins one at the end waits for
   * its rest, unless the stream is over.
   */
  part({
    offset,
    maxBytes = this.#capBytes,
    isOver,
  }: {
    readonly offset: number;
    readonly maxBytes?: number;
    readonly isOver: boolean;
  }): StreamPart {
    const first = Math.min(Math.max(offset, this.droppedBytes), this.#totalBytes);
    const last = Math.min(this.#totalBytes, first + maxBytes);
    const bytes = this.#bytes(first, last);
    const skipped = first > 0 ? leadingPart(bytes) : 0;
    const waiting = isOver && last === this.#totalBytes ? 0 : trailingPart(bytes);
    const whole = bytes.subarray(skipped, Math.max(skipped, bytes.length - waiting));
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(whole);
    return { offset: first + skipped, text, nextOffset: first + skipped + whole.length };
  }

  #bytes(first: number, last: number): Buffer {
    const size = this.#ring.length;
    if (size === 0) return this.#ring;
    const start = first % size;
    const head = this.#ring.subarray(start, Math.min(size, start + last - first));
    return Buffer.concat([head, this.#ring.subarray(0, last - first - head.length)]);
  }

  /** Only until the cap: as long as the ring grows nothing has gone round it. */
  #grow(needed: number): void {
    const size = this.#ring.length;
    if (needed <= size || size === this.#capBytes) return;
    const larger = Buffer.alloc(Math.min(this.#capBytes, Math.max(needed, size * 2, firstBytes)));
    this.#ring.copy(larger, 0, 0, this.#totalBytes);
    this.#ring = larger;
  }
}
