import {
  blockBytes,
  blockOffsets,
  entriesOf,
  droppedEntry,
  offsetsOf,
  type LogBlock,
  type LogEntry,
  type LogSource,
} from "./log-entry.ts";

/** Entries one after another, and where the next reading begins. */
export interface LogPage {
  readonly entries: readonly LogEntry[];
  readonly nextOffset: number;
}

/** The newest entries of one sandbox, within a bound, for readers each at its own pace. */
export class LogRing {
  readonly source: LogSource;
  readonly #maxBytes: number;
  readonly #now: () => number;
  /** In order; forgotten entries are removed immediately. */
  readonly #blocks: LogBlock[] = [];
  #bytes = 0;
  #nextOffset = 0;
  #hasEnded = false;
  readonly #waiting = new Set<() => void>();

  constructor(source: LogSource, { maxBytes, now }: { readonly maxBytes: number; readonly now: () => number }) {
    this.source = source;
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  /** The oldest that is still held. */
  get firstOffset(): number {
    return this.#blocks[0]?.offset ?? this.#nextOffset;
  }

  get nextOffset(): number {
    return this.#nextOffset;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether no more entries come. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Takes the next entries. */
  push(part: Omit<LogBlock, "source" | "offset">): LogBlock {
    const block: LogBlock = { source: this.source, offset: this.#nextOffset, ...part };
    this.#nextOffset += blockOffsets(block);
    this.#blocks.push(block);
    this.#bytes += blockBytes(block);
    while (this.#bytes > this.#maxBytes && this.#blocks.length > 1) this.#forgetOldest();
    this.#tell();
    return block;
  }

  end(): void {
    this.#hasEnded = true;
    this.#tell();
  }

  /** Entries from an offset on; those before that are not held any more are one entry that counts them. */
  read(offset: number, limit: number): LogPage {
    const held = this.#heldFrom(offset, limit);
    const [first] = held;
    const last = held.at(-1);
    if (first === undefined || last === undefined)
      return { entries: [], nextOffset: Math.min(offset, this.#nextOffset) };
    const nextOffset = last.offset + offsetsOf(last);
    if (first.offset === offset) return { entries: held, nextOffset };
    // Either the entries before the first are gone, or it stands for some of which the reader knows.
    const count = first.offset > offset ? first.offset - offset : first.offset + first.dropped - offset;
    const gap = droppedEntry(this.source, { offset, count }, this.#now());
    return { entries: [gap, ...(first.offset > offset ? held : held.slice(1))], nextOffset };
  }

  /** Resolves when there is an entry at the offset, or none will come, or the reader has given up. */
  async until(offset: number, signal: AbortSignal): Promise<void> {
    while (this.#nextOffset <= offset && !this.#hasEnded && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = (): void => resolve();
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake, { once: true });
      await promise;
      this.#waiting.delete(wake);
      signal.removeEventListener("abort", wake);
    }
  }

  /** So many entries that are held, from the first on that reaches beyond the offset. */
  #heldFrom(offset: number, limit: number): readonly LogEntry[] {
    const held: LogEntry[] = [];
    for (let index = this.#indexOf(offset); held.length < limit; index += 1) {
      const block = this.#blocks[index];
      if (block === undefined) break;
      const skipped = block.count > 1 ? Math.max(0, offset - block.offset) : 0;
      held.push(...entriesOf(block).slice(skipped, skipped + limit - held.length));
    }
    return held;
  }

  /** Where the first block is held that reaches beyond the offset. */
  #indexOf(offset: number): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const block = this.#blocks[middle];
      if (block !== undefined && block.offset + blockOffsets(block) <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #forgetOldest(): void {
    const oldest = this.#blocks.shift();
    if (oldest !== undefined) this.#bytes -= blockBytes(oldest);
  }

  #tell(): void {
    if (this.#waiting.size === 0) return;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
