import { kibibyte } from "../bytes.ts";

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
