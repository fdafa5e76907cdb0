import { BatchPump, type BatchPumpOptions, type PumpState } from "../../base/batch-pump.ts";
import { droppedEntry, entryBytes, offsetsOf, type LogEntry, type LogSource, type LogStream } from "./log-entry.ts";

export interface LogSinkOptions extends Omit<BatchPumpOptions<LogEntry>, "onLeft"> {
  /** Most bytes of stdout and of stderr that a run may write to it, by `entryBytes` of them; default: any number. */
  readonly maxRunBytes?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What is known of one sandbox whose entries are on their way. */
interface Share {
  queuedBytes: number;
  runBytes: Record<LogStream, number>;
  /** Entries that found no room since the last that did. */
  missing: { readonly offset: number; count: number } | null;
}

/**
 * One place that log entries go to, at its own pace: the queue to it is bounded and shared fairly by the sandboxes, and
 * what found no room is counted there by an entry of its own (SPEC LG2).
 */
export class LogSink {
  readonly #options: LogSinkOptions;
  readonly #pump: BatchPump<LogEntry>;
  readonly #shares = new Map<LogSource, Share>();
  /** Entries that stand for others, by how many they stand for. */
  #missing = 0;

  constructor(options: LogSinkOptions) {
    this.#options = options;
    this.#pump = new BatchPump({ ...options, onLeft: (entries) => this.#left(entries) });
  }

  get state(): PumpState {
    const state = this.#pump.state;
    return { ...state, dropped: state.dropped + this.#missing };
  }

  /** Takes an entry, or counts it as dropped; never waits and never throws. */
  offer(entry: LogEntry): void {
    const share = this.#shareOf(entry.source);
    const bytes = entryBytes(entry);
    // A sandbox gets no more than is left for others: one that floods takes at most half of the room.
    const isOver =
      this.#isOverCap(share, entry.stream, bytes) || share.queuedBytes + bytes > this.#pump.freeBytes - bytes;
    if (isOver) {
      this.#miss(share, entry);
      return;
    }
    this.#tellMissing(entry.source, share);
    this.#pump.push(entry, bytes, true);
    share.queuedBytes += bytes;
    share.runBytes[entry.stream] += bytes;
  }

  /** A run begins in the sandbox, with a new allowance. */
  beginRun(source: LogSource): void {
    this.#shareOf(source).runBytes = noBytes();
  }

  /** No more entries come from the sandbox: what is missing at its end is counted now. */
  end(source: LogSource): void {
    const share = this.#shares.get(source);
    if (share === undefined) return;
    this.#tellMissing(source, share);
    this.#shares.delete(source);
  }

  /** Resolves when all that it took is written. */
  idle(): Promise<void> {
    return this.#pump.idle();
  }

  close(withinMs: number): Promise<void> {
    for (const [source, share] of this.#shares) this.#tellMissing(source, share);
    return this.#pump.close(withinMs);
  }

  #shareOf(source: LogSource): Share {
    let share = this.#shares.get(source);
    if (share === undefined) {
      share = { queuedBytes: 0, runBytes: noBytes(), missing: null };
      this.#shares.set(source, share);
    }
    return share;
  }

  #isOverCap({ runBytes }: Share, stream: LogStream, bytes: number): boolean {
    const { maxRunBytes } = this.#options;
    return maxRunBytes !== undefined && stream !== "system" && runBytes[stream] + bytes > maxRunBytes;
  }

  #miss(share: Share, entry: LogEntry): void {
    share.missing ??= { offset: entry.offset, count: 0 };
    share.missing.count += offsetsOf(entry);
    this.#missing += offsetsOf(entry);
  }

  /** One entry for all that are missing, whatever the room: there is at most one between two that got in. */
  #tellMissing(source: LogSource, share: Share): void {
    if (share.missing === null) return;
    const entry = droppedEntry(source, share.missing, this.#options.now());
    share.missing = null;
    const bytes = entryBytes(entry);
    if (this.#pump.push(entry, bytes, true)) share.queuedBytes += bytes;
  }

  #left(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      const share = this.#shares.get(entry.source);
      if (share !== undefined) share.queuedBytes -= entryBytes(entry);
    }
  }
}

function noBytes(): Record<LogStream, number> {
  return { stdout: 0, stderr: 0, system: 0 };
}
