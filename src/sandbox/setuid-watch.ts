import { setTimeout as sleep } from "node:timers/promises";
import type { OpenPlace } from "./mounts/open-place.ts";
import { clearSetuidBits, type ClearedFiles } from "./clear-setuid-bits.ts";

/** Time between two looks while something runs (SPEC RT6), and while nothing is known to. */
const everyMs = { busy: 1_000, idle: 5_000 };

/** A large project takes long to look at: so many times as long nothing is done then. */
const restFactor = 4;

export interface SetuidWatchParts {
  readonly place: Pick<OpenPlace, "stablePath" | "owner" | "platform">;
  readonly isBusy: () => boolean;
  readonly onCleared: (files: ClearedFiles) => void;
  /** The bits cannot be removed: what writes there must end. Called once. */
  readonly onFailed: (error: unknown) => void;
  readonly monotonicMs: () => number;
}

/** Removes the setuid bits of files in a folder that programs write to, where no filter refuses them. */
export class SetuidWatch {
  readonly #parts: SetuidWatchParts;
  readonly #ending = new AbortController();
  #count = 0;
  #hasFailed = false;
  #lastMs = 0;
  #looking: Promise<void> = Promise.resolve();
  /** Waits for the look in progress, which may have missed what is new. */
  #next: Promise<void> | null = null;
  #closed: Promise<void> | undefined;

  constructor(parts: SetuidWatchParts) {
    this.#parts = parts;
    void this.#goOn();
  }

  /** Files whose bit has been removed so far. */
  get count(): number {
    return this.#count;
  }

  /**
   * Resolves when everything has been looked at that was there at the call; failures are reported once, to `onFailed`.
   */
  look(): Promise<void> {
    this.#next ??= this.#looking = this.#looking.then(() => {
      this.#next = null;
      return this.#look();
    });
    return this.#next;
  }

  /** A last look, when nothing writes there any more. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#ending.abort();
    await this.look();
  }

  async #goOn(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted && !this.#hasFailed) {
      const pauseMs = Math.max(this.#parts.isBusy() ? everyMs.busy : everyMs.idle, restFactor * this.#lastMs);
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await this.look();
    }
  }

  async #look(): Promise<void> {
    const { place, monotonicMs, onCleared, onFailed } = this.#parts;
    const startedMs = monotonicMs();
    try {
      const files = await clearSetuidBits(place);
      this.#count += files.count;
      if (files.count > 0) onCleared(files);
    } catch (error) {
      if (this.#hasFailed) return;
      this.#hasFailed = true;
      onFailed(error);
    } finally {
      this.#lastMs = monotonicMs() - startedMs;
    }
  }
}
