import { kibibyte } from "../bytes.ts";

const firstBytes = 4 * kibibyte;

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
      const larger = Buffer.allocUnsafeSlow(Math.max(firstBytes, 2 ** Math.ceil(Math.log2(length))));
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
