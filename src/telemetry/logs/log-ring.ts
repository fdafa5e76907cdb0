import { droppedEntry, entryBytes, offsetsOf, type LogEntry, type LogSource } from "./log-entry.ts";

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
  /** Entries from `#head` on, by offset. */
  #entries: LogEntry[] = [];
  #head = 0;
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
    return this.#entries[this.#head]?.offset ?? this.#nextOffset;
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

  /** Takes the next entry; `dropped`: it stands for so many that are missing. */
  push(part: Pick<LogEntry, "stampMs" | "stream" | "message" | "partial" | "alert">, dropped = 0): LogEntry {
    const entry: LogEntry = { source: this.source, offset: this.#nextOffset, dropped, ...part };
    this.#nextOffset += offsetsOf(entry);
    this.#entries.push(entry);
    this.#bytes += entryBytes(entry);
    while (this.#bytes > this.#maxBytes && this.#entries.length - this.#head > 1) this.#forgetOldest();
    this.#tell();
    return entry;
  }

  end(): void {
    this.#hasEnded = true;
    this.#tell();
  }

  /** Entries from an offset on; those before that are not held any more are one entry that counts them. */
  read(offset: number, limit: number): LogPage {
    const begin = this.#indexOf(offset);
    const held = this.#entries.slice(begin, begin + limit);
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

  /** Where the first entry is held that reaches beyond the offset. */
  #indexOf(offset: number): number {
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#entries[middle];
      if (entry !== undefined && entry.offset + offsetsOf(entry) <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #forgetOldest(): void {
    const oldest = this.#entries[this.#head];
    if (oldest !== undefined) this.#bytes -= entryBytes(oldest);
    this.#head += 1;
    if (this.#head < 1_024 || this.#head * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
  }

  #tell(): void {
    if (this.#waiting.size === 0) return;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
