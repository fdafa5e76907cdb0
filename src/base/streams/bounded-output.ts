/** Keeps the first bytes of a stream up to a cap and counts the rest, so that memory stays bounded. */
export class BoundedOutput {
  readonly #chunks: Uint8Array[] = [];
  readonly #capBytes: number;
  #keptBytes = 0;
  #droppedBytes = 0;

  constructor(capBytes: number) {
    this.#capBytes = capBytes;
  }

  append(bytes: Uint8Array): void {
    const room = this.#capBytes - this.#keptBytes;
    const kept = bytes.length <= room ? bytes : bytes.subarray(0, room);
    // A copy: the producer may reuse its buffer, and a part of it (a Buffer's `slice`) would keep all of it alive.
    if (kept.length > 0) this.#chunks.push(new Uint8Array(kept));
    this.#keptBytes += kept.length;
    this.#droppedBytes += bytes.length - kept.length;
  }

  /** Bytes that came after the cap was reached. */
  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  get truncated(): boolean {
    return this.#droppedBytes > 0;
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }

  /** What was kept, decoded as UTF-8; invalid bytes become U+FFFD, a character cut by the cap is left out. */
  text(): string {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.bytes(), { stream: this.truncated });
  }
}
