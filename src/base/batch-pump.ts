import { settlesWithin } from "./abort.ts";
import type { Logger } from "./logger.ts";

export interface BatchPumpOptions<Item> {
  /** For the log and for messages, such as `the store's log entries`. */
  readonly name: string;
  /** Maximum bytes that wait, by the sizes given to `push`. */
  readonly maxBytes: number;
  /** Most items that one call of `write` is given. */
  readonly batchItems: number;
  /** Maximum bytes of them, by the sizes given to `push`, unless a single one has more. Default: any number. */
  readonly batchBytes?: number | undefined;
  /** How long the first item may wait for others to leave with it, in milliseconds; default: for those of the same go. */
  readonly gatherMs?: number | undefined;
  /** Writes them in order, all or none; tried again with the same ones when it rejects. */
  readonly write: (items: readonly Item[]) => Promise<void>;
  /** Whether the very item is what cannot be written, so that trying again is of no use. Default: never. */
  readonly isHopeless?: ((error: unknown) => boolean) | undefined;
  /** Told when items leave the queue, whether written or given up. */
  readonly onLeft?: ((items: readonly Item[], isWritten: boolean) => void) | undefined;
  readonly logger: Logger;
}

/** How a pump fares. */
export interface PumpState {
  readonly queued: number;
  readonly written: number;
  /** Items that were refused by a full queue, given up, or left when it was closed. */
  readonly dropped: number;
  /** Whether the last attempt failed. */
  readonly isFailing: boolean;
}

/** Thrown by `write` when the first of the items did get through. */
export class PartlyWritten extends Error {
  override readonly name = "PartlyWritten";
  readonly count: number;

  constructor(count: number, cause: unknown) {
    super("Only a part was written.", { cause });
    this.count = count;
  }
}

/** The first wait after a failure, and the longest, in milliseconds. */
const retryMs = { first: 200, longest: 5_000 } as const;

interface Queued<Item> {
  readonly item: Item;
  readonly bytes: number;
}

/** A bounded queue to something that may be slow or away: what is put in waits for nothing, and comes out in order. */
export class BatchPump<Item> {
  readonly #options: BatchPumpOptions<Item>;
  readonly #queue: Queued<Item>[] = [];
  #bytes = 0;
  #written = 0;
  #dropped = 0;
  #failures = 0;
  #isClosed = false;
  #running: Promise<void> | undefined;
  #wake: () => void = () => undefined;
  #hurry: () => void = () => undefined;

  constructor(options: BatchPumpOptions<Item>) {
    this.#options = options;
  }

  get state(): PumpState {
    return {
      queued: this.#queue.length,
      written: this.#written,
      dropped: this.#dropped,
      isFailing: this.#failures > 0,
    };
  }

  /** Bytes that may still be put in. */
  get freeBytes(): number {
    return this.#isClosed ? 0 : this.#options.maxBytes - this.#bytes;
  }

  /** Puts an item in; false when there is no room for it, which counts as dropped. `force`: whatever the room. */
  push(item: Item, bytes: number, force = false): boolean {
    if (this.#isClosed || (!force && bytes > this.freeBytes)) {
      this.#dropped += 1;
      return false;
    }
    this.#queue.push({ item, bytes });
    this.#bytes += bytes;
    this.#running ??= this.#run();
    return true;
  }

  /** Counts an item that its owner did not put in, for want of room. */
  countDropped(): void {
    this.#dropped += 1;
  }

  /** What waits need not wait for others. */
  hurry(): void {
    this.#hurry();
  }

  /** Resolves when nothing waits any more, for which what waits need not wait for others. */
  async idle(): Promise<void> {
    this.hurry();
    while (this.#running !== undefined) await this.#running;
  }

  /** Takes nothing more and writes what waits, as far as the time allows; the rest counts as dropped. */
  async close(withinMs: number): Promise<void> {
    this.#wake();
    await settlesWithin(this.idle(), withinMs);
    this.#isClosed = true;
    this.#wake();
    const left = this.#leave(this.#queue.length, false);
    const { name, logger } = this.#options;
    if (left > 0) logger.warn({ dropped: left }, `${name}: some could not be written before the end`);
  }

  async #run(): Promise<void> {
    await this.#gather();
    let most = this.#options.batchItems;
    while (this.#queue.length > 0 && !this.#isClosed) {
      const batch = this.#next(most);
      try {
        await this.#options.write(batch.map(({ item }) => item));
        this.#leave(batch.length, true);
        this.#recovered();
        most = this.#options.batchItems;
      } catch (error) {
        most = await this.#failed(error, batch.length, most);
      }
    }
    this.#running = undefined;
  }

  async #gather(): Promise<void> {
    const { gatherMs } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#hurry = resolve;
    const timer = gatherMs === undefined ? undefined : setTimeout(resolve, gatherMs);
    if (timer !== undefined) {
      // Does not keep the event loop alive.
      timer.unref();
      await promise;
      clearTimeout(timer);
    }
    // What comes in one go leaves in one go.
    await new Promise((next) => setImmediate(next));
  }

  /** The first items of the queue, as many as go together. */
  #next(most: number): readonly Queued<Item>[] {
    const batch: Queued<Item>[] = [];
    let left = this.#options.batchBytes ?? Infinity;
    for (const queued of this.#queue) {
      left -= queued.bytes;
      if (batch.length === most || (left < 0 && batch.length > 0)) break;
      batch.push(queued);
    }
    return batch;
  }

  /** How many items the next attempt is to have. */
  async #failed(error: unknown, count: number, most: number): Promise<number> {
    const partly = error instanceof PartlyWritten;
    if (partly) this.#leave(error.count, true);
    const reason = partly ? error.cause : error;
    const { name, logger, isHopeless } = this.#options;
    if (isHopeless?.(reason) === true) {
      if (count > 1) return 1;
      this.#leave(1, false);
      logger.warn({ err: reason }, `${name}: one could not be written and is given up`);
      return most;
    }
    if (this.#failures === 0)
      logger.warn({ err: reason }, `${name}: cannot be written now; what comes waits, and is tried again`);
    this.#failures += 1;
    await this.#pause(Math.min(retryMs.first * 2 ** Math.min(this.#failures - 1, 10), retryMs.longest));
    return most;
  }

  #recovered(): void {
    const { name, logger } = this.#options;
    if (this.#failures > 0) logger.warn({ dropped: this.#dropped }, `${name}: written again`);
    this.#failures = 0;
  }

  /** Lets the first items go; resolves to how many there were. */
  #leave(count: number, isWritten: boolean): number {
    const left = this.#queue.splice(0, count);
    for (const { bytes } of left) this.#bytes -= bytes;
    if (isWritten) this.#written += left.length;
    else this.#dropped += left.length;
    this.#options.onLeft?.(
      left.map(({ item }) => item),
      isWritten,
    );
    return left.length;
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    // Does not keep the event loop alive.
    timer.unref();
    this.#wake = resolve;
    await promise;
    clearTimeout(timer);
  }
}
