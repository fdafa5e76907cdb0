/** What stands between a call's output and what comes after it; the token is made anew for each call. */
export function markOf(token: string): Buffer {
  return Buffer.from(`\u001e${token}\u001e`);
}

/** Finds a mark in a stream of bytes, wherever it is cut. */
export class MarkFinder {
  readonly #mark: Buffer;
  #held: Buffer = Buffer.alloc(0);
  #isFound = false;

  constructor(mark: Buffer) {
    this.#mark = mark;
  }

  get isFound(): boolean {
    return this.#isFound;
  }

  /** The bytes before the mark that are certain by now, and once it was found those behind it. */
  take(bytes: Uint8Array): { readonly before: Buffer; readonly behind: Buffer } {
    const all = Buffer.concat([this.#held, bytes]);
    this.#held = Buffer.alloc(0);
    const none = Buffer.alloc(0);
    if (this.#isFound) return { before: none, behind: all };
    const at = all.indexOf(this.#mark);
    if (at !== -1) {
      this.#isFound = true;
      return { before: all.subarray(0, at), behind: all.subarray(at + this.#mark.length) };
    }
    const begins = this.#beginningAt(all);
    this.#held = all.subarray(begins);
    return { before: all.subarray(0, begins), behind: none };
  }

  /** What was held because it might have been the mark's beginning. */
  rest(): Buffer {
    return this.#held;
  }

  /** Where the bytes end with the beginning of a mark; their length where they do not. */
  #beginningAt(bytes: Buffer): number {
    for (let at = Math.max(0, bytes.length - this.#mark.length + 1); at < bytes.length; at += 1) {
      if (bytes.subarray(at).equals(this.#mark.subarray(0, bytes.length - at))) return at;
    }
    return bytes.length;
  }
}
