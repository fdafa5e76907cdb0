/** Bytes to be found, and the name that they are found under. */
export interface BytePattern {
  /** At least one. */
  readonly bytes: Uint8Array;
  readonly name: string;
}

/**
 * Finds any of many byte patterns in one pass (Aho and Corasick): a step a byte on average, whatever the input.
 *
 * A state stands for the longest end of the input so far that begins a pattern. Children are lists and no tables, so
 * that memory is a few numbers for each byte of the patterns.
 */
export class PatternAutomaton {
  readonly #names: readonly string[];
  readonly #bytes: Uint8Array;
  readonly #firstChild: Int32Array;
  readonly #sibling: Int32Array;
  readonly #fallback: Int32Array;
  readonly #depth: Int32Array;
  readonly #held: Int32Array;
  readonly #matched: Int32Array;
  readonly #name: Int32Array;
  /** Children of the start, where most of any input goes round. */
  readonly #fromStart: Int32Array = new Int32Array(256);

  constructor(patterns: readonly BytePattern[]) {
    const size = patterns.reduce((sum, { bytes }) => sum + bytes.length, 1);
    const numbers = (): Int32Array => new Int32Array(size);
    this.#names = patterns.map(({ name }) => name);
    this.#bytes = new Uint8Array(size);
    this.#firstChild = numbers();
    this.#sibling = numbers();
    this.#fallback = numbers();
    this.#depth = numbers();
    this.#held = numbers();
    this.#matched = numbers();
    this.#name = numbers();
    this.#link(this.#grow(patterns));
  }

  /** The state after one more byte; the first state is 0. */
  next(state: number, byte: number): number {
    for (let from = state; ; from = this.#fallback[from] ?? 0) {
      if (from === 0) return this.#fromStart[byte] ?? 0;
      const child = this.#child(from, byte);
      if (child !== 0) return child;
    }
  }

  /** Length of the longest pattern that ends here; 0 for none. */
  matchedLength(state: number): number {
    return this.#matched[state] ?? 0;
  }

  /** Name of that pattern. */
  matchedName(state: number): string {
    return this.#names[this.#name[state] ?? 0] ?? "";
  }

  /** How many of the last bytes may yet become part of a pattern that has not ended. */
  undecidedLength(state: number): number {
    return this.#held[state] ?? 0;
  }

  #child(state: number, byte: number): number {
    let child = this.#firstChild[state] ?? 0;
    while (child !== 0 && this.#bytes[child] !== byte) child = this.#sibling[child] ?? 0;
    return child;
  }

  /** Makes a tree of the patterns; returns how many states it has. */
  #grow(patterns: readonly BytePattern[]): number {
    let count = 1;
    for (const [index, { bytes }] of patterns.entries()) {
      let state = 0;
      for (const byte of bytes) {
        let child = state === 0 ? (this.#fromStart[byte] ?? 0) : this.#child(state, byte);
        if (child === 0) {
          child = count++;
          this.#bytes[child] = byte;
          this.#depth[child] = (this.#depth[state] ?? 0) + 1;
          this.#sibling[child] = this.#firstChild[state] ?? 0;
          this.#firstChild[state] = child;
          if (state === 0) this.#fromStart[byte] = child;
        }
        state = child;
      }
      if (this.#matched[state] === 0) this.#name[state] = index;
      this.#matched[state] = bytes.length;
    }
    return count;
  }

  /** Gives each state the one to fall back to, the shorter ones before the longer ones. */
  #link(count: number): void {
    const queue = new Int32Array(count);
    let end = 1;
    for (let at = 0; at < end; at++) {
      const state = queue[at] ?? 0;
      let child = this.#firstChild[state] ?? 0;
      for (; child !== 0; child = this.#sibling[child] ?? 0) {
        queue[end++] = child;
        const fallback = state === 0 ? 0 : this.next(this.#fallback[state] ?? 0, this.#bytes[child] ?? 0);
        this.#fallback[child] = fallback;
        if (this.#matched[child] === 0) {
          this.#matched[child] = this.#matched[fallback] ?? 0;
          this.#name[child] = this.#name[fallback] ?? 0;
        }
        const goesOn = this.#firstChild[child] !== 0;
        this.#held[child] = (goesOn ? this.#depth[child] : this.#held[fallback]) ?? 0;
      }
    }
  }
}
