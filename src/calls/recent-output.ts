/** Keeps the newest bytes of a stream, so that memory stays bounded, and counts all of them. */
export class RecentOutput {
  readonly #capBytes: number;
  #kept: Buffer = Buffer.alloc(0);
  #totalBytes = 0;

  constructor(capBytes: number) {
    this.#capBytes = capBytes;
  }

  append(bytes: Uint8Array): void {
    this.#totalBytes += bytes.length;
    // A copy: the producer may reuse its buffer.
    this.#kept = Buffer.concat([this.#kept, bytes.subarray(-this.#capBytes)]).subarray(-this.#capBytes);
  }

  /** All bytes received, kept or not. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** How many are kept. */
  get keptBytes(): number {
    return this.#kept.length;
  }

  /** What is kept, as UTF-8; a character whose first bytes were dropped is left out. */
  text(): string {
    const isCut = this.#totalBytes > this.#kept.length;
    const start = isCut ? this.#kept.findIndex((byte) => (byte & 0xc0) !== 0x80) : 0;
    return this.#kept.toString("utf8", Math.max(0, start));
  }
}
