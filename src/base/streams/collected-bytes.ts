import { kibibyte } from "../bytes.ts";
import { leadingPart, trailingPart } from "./utf8.ts";

/** Bytes that memory is taken for at once, as more come: as many again, and from the second on always the same. */
const stepBytes = { first: 4 * kibibyte, large: 256 * kibibyte } as const;

/** Keeps the first bytes of a stream up to a cap and counts the rest, so that memory stays bounded. */
export class BoundedOutput {
  /** Grows in place: pages of the system's own, which go back to it at once. */
  #buffer: ArrayBuffer | undefined;
  readonly #capBytes: number;
  #keptBytes = 0;
  #droppedBytes = 0;
  #taken: string | undefined;

  constructor(capBytes: number) {
    this.#capBytes = capBytes;
  }

  append(bytes: Uint8Array): void {
    const room = this.#capBytes - this.#keptBytes;
    const kept = bytes.length <= room ? bytes : bytes.subarray(0, room);
    this.#droppedBytes += bytes.length - kept.length;
    if (kept.length === 0) return;
    // A copy: the producer may reuse its buffer, and a part of it (a Buffer's `slice`) would keep all of it alive.
    new Uint8Array(this.#grown(this.#keptBytes + kept.length)).set(kept, this.#keptBytes);
    this.#keptBytes += kept.length;
  }

  /** Bytes that came after the cap was reached. */
  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  get truncated(): boolean {
    return this.#droppedBytes > 0;
  }

  /** Bytes of memory that it takes. */
  get memoryBytes(): number {
    return this.#buffer?.byteLength ?? 0;
  }

  bytes(): Uint8Array {
    return Buffer.concat([this.#kept()]);
  }

  /** What was kept, decoded as UTF-8; invalid bytes become U+FFFD, a character cut by the cap is left out. */
  text(): string {
    const options = { stream: this.truncated };
    return this.#taken ?? new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.#kept(), options);
  }

  /** As `text`, when nothing comes any more: the bytes are given up at once, without waiting for a garbage collection. */
  takeText(): string {
    this.#taken ??= this.text();
    this.#buffer?.resize(0);
    this.#buffer = undefined;
    return this.#taken;
  }

  #kept(): Uint8Array {
    return this.#buffer === undefined ? new Uint8Array() : new Uint8Array(this.#buffer, 0, this.#keptBytes);
  }

  #grown(neededBytes: number): ArrayBuffer {
    this.#buffer ??= new ArrayBuffer(0, { maxByteLength: this.#capBytes });
    const { byteLength } = this.#buffer;
    if (byteLength < neededBytes) {
      const step = Math.min(Math.max(byteLength, stepBytes.first), stepBytes.large);
      this.#buffer.resize(Math.min(Math.max(byteLength + step, neededBytes), this.#capBytes));
    }
    return this.#buffer;
  }
}

/** A part of a stream as text. */
interface StreamPart {
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

const smallestBytes = 4 * kibibyte;

/**
 * Collects bytes in one piece of memory, however they come: a list of a million chunks of one byte would take a hundred
 * times as much as they contain. Holds at most twice what it was given.
 */
export class GrowingBuffer {
  #memory: Buffer = Buffer.alloc(0);
  #length = 0;

  /** Bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** Bytes of memory that it holds. */
  get heldBytes(): number {
    return this.#memory.length;
  }

  append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(smallestBytes, 2 ** Math.ceil(Math.log2(length))));
      this.#memory.copy(larger, 0, 0, this.#length);
      this.#memory = larger;
    }
    this.#memory.set(bytes, this.#length);
    this.#length = length;
  }

  /** What it has collected, which it no longer holds. */
  take(): Buffer {
    const taken = this.#memory.subarray(0, this.#length);
    this.#memory = Buffer.alloc(0);
    this.#length = 0;
    return taken;
  }
}
