import { BatchPump, type BatchPumpOptions, type PumpState } from "../base/batch-pump.ts";
import {
  blockBytes,
  blockOffsets,
  droppedBlock,
  rowBytes,
  type LogBlock,
  type LogSource,
  type LogStream,
} from "./log-entry.ts";

export interface LogSinkOptions extends Omit<BatchPumpOptions<LogBlock>, "onLeft"> {
  /** Most bytes of stdout and of stderr that a run may write to it, by `rowBytes` of them; default: any number. */
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
 * One destination of log entries, at its own pace: its queue is bounded and shared fairly between sandboxes, and a
 * separate entry counts what did not fit (SPEC LG2).
 */
export class LogSink {
  readonly #options: LogSinkOptions;
  readonly #pump: BatchPump<LogBlock>;
  readonly #shares = new Map<LogSource, Share>();
  /** Entries, not blocks of them. */
  readonly #entries = { queued: 0, written: 0, dropped: 0 };

  constructor(options: LogSinkOptions) {
    this.#options = options;
    this.#pump = new BatchPump({ ...options, onLeft: (blocks, isWritten) => this.#left(blocks, isWritten) });
  }

  /** In entries. */
  get state(): PumpState {
    return { ...this.#pump.state, ...this.#entries };
  }

  /** Takes entries, or counts them as dropped; never waits and never throws. */
  offer(block: LogBlock): void {
    const share = this.#shareOf(block.source);
    const bytes = blockBytes(block);
    // A sandbox gets no more than is left for others: one that floods takes at most half of the room.
    const isOver = this.#isOverCap(share, block) || share.queuedBytes + bytes > this.#pump.freeBytes - bytes;
    if (isOver) {
      this.#miss(share, block);
      return;
    }
    this.#tellMissing(block.source, share);
    this.#push(share, block);
    share.runBytes[block.stream] += rowBytes(block);
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
    this.#pump.hurry();
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

  #isOverCap({ runBytes }: Share, block: LogBlock): boolean {
    const { maxRunBytes } = this.#options;
    const { stream } = block;
    return maxRunBytes !== undefined && stream !== "system" && runBytes[stream] + rowBytes(block) > maxRunBytes;
  }

  #miss(share: Share, block: LogBlock): void {
    share.missing ??= { offset: block.offset, count: 0 };
    share.missing.count += blockOffsets(block);
    this.#entries.dropped += blockOffsets(block);
  }

  #push(share: Share, block: LogBlock): void {
    const bytes = blockBytes(block);
    if (!this.#pump.push(block, bytes, true)) return;
    share.queuedBytes += bytes;
    this.#entries.queued += block.count;
  }

  /** One entry for all that are missing, whatever the room: there is at most one between two that got in. */
  #tellMissing(source: LogSource, share: Share): void {
    if (share.missing === null) return;
    const block = droppedBlock(source, share.missing, this.#options.now());
    share.missing = null;
    this.#push(share, block);
  }

  #left(blocks: readonly LogBlock[], isWritten: boolean): void {
    for (const block of blocks) {
      const share = this.#shares.get(block.source);
      if (share !== undefined) share.queuedBytes -= blockBytes(block);
      this.#entries.queued -= block.count;
      // What a block stands for has been counted already.
      if (isWritten) this.#entries.written += block.count;
      else if (block.dropped === 0) this.#entries.dropped += block.count;
    }
  }
}

function noBytes(): Record<LogStream, number> {
  return { stdout: 0, stderr: 0, system: 0 };
}
