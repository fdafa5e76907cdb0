import { untilCancelled } from "./abort.ts";

export interface KeptBounds {
  /** How long a value is kept; default: as long as the other bounds allow. */
  readonly forMs?: number | undefined;
  /** The clock that `forMs` is measured with, in milliseconds. */
  readonly now?: (() => number) | undefined;
  /** Most values; beyond it the share with most of them loses its oldest. Default: no limit, as for those below. */
  readonly max?: number | undefined;
  /** Of one share, which loses its oldest beyond it. */
  readonly maxOfShare?: number | undefined;
  /** Of all values together; beyond it the share that holds most loses its oldest. */
  readonly maxSize?: number | undefined;
  /** Of the values of one share. */
  readonly maxSizeOfShare?: number | undefined;
  /** Called with each key whose value goes, whatever the reason. */
  readonly onDrop?: ((key: string) => void) | undefined;
}

interface Entry<Value> {
  readonly value: Value;
  readonly share: string;
  readonly size: number;
  readonly atMs: number;
}

interface Share {
  /** The oldest first. */
  readonly keys: Set<string>;
  size: number;
}

/**
 * Values that are kept for a while and within bounds, by key. Each belongs to a share, such as a principal, so that one that
 * keeps much removes nothing of another that keeps less.
 */
export class Kept<Value> {
  readonly #bounds: KeptBounds;
  /** The oldest first. */
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #shares = new Map<string, Share>();
  #size = 0;

  constructor(bounds: KeptBounds) {
    this.#bounds = bounds;
  }

  /** Keeps it as the newest, in the place of an earlier one. False: alone it is larger than the bounds, and is not kept. */
  set(key: string, value: Value, options: { readonly share?: string; readonly size?: number } = {}): boolean {
    const { share = "", size = 0 } = options;
    const none = Number.POSITIVE_INFINITY;
    const { max = none, maxOfShare = none, maxSize = none, maxSizeOfShare = none } = this.#bounds;
    this.delete(key);
    this.#dropExpired();
    if (size > maxSize || size > maxSizeOfShare) return false;
    const own = this.#shares.get(share) ?? { keys: new Set<string>(), size: 0 };
    this.#shares.set(share, own);
    own.keys.add(key);
    own.size += size;
    this.#size += size;
    this.#entries.set(key, { value, share, size, atMs: this.#nowMs() });
    while (own.keys.size > maxOfShare || own.size > maxSizeOfShare) this.#dropOldest(own);
    while (this.#entries.size > max) this.#dropOldest(this.#largest(({ keys }) => keys.size));
    while (this.#size > maxSize) this.#dropOldest(this.#largest((each) => each.size));
    return true;
  }

  get(key: string): Value | undefined {
    this.#dropExpired();
    return this.#entries.get(key)?.value;
  }

  /** As `get`, and from now on it is the newest: what is used least goes first. */
  use(key: string): Value | undefined {
    const value = this.get(key);
    const entry = this.#entries.get(key);
    if (value !== undefined && entry !== undefined) this.set(key, value, entry);
    return value;
  }

  /** Those of one share, the oldest first. */
  valuesOf(share: string): readonly Value[] {
    this.#dropExpired();
    return [...this.#entries.values()].filter((entry) => entry.share === share).map(({ value }) => value);
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#size -= entry.size;
    const own = this.#shares.get(entry.share);
    if (own !== undefined) own.size -= entry.size;
    own?.keys.delete(key);
    if (own?.keys.size === 0) this.#shares.delete(entry.share);
    this.#bounds.onDrop?.(key);
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key);
  }

  #nowMs(): number {
    return this.#bounds.now?.() ?? 0;
  }

  #dropExpired(): void {
    const { forMs } = this.#bounds;
    if (forMs === undefined) return;
    const oldestMs = this.#nowMs() - forMs;
    for (const [key, { atMs }] of this.#entries) {
      if (atMs >= oldestMs) return;
      this.delete(key);
    }
  }

  #largest(measure: (share: Share) => number): Share | undefined {
    let largest: Share | undefined;
    for (const share of this.#shares.values()) {
      if (largest === undefined || measure(share) > measure(largest)) largest = share;
    }
    return largest;
  }

  #dropOldest(share: Share | undefined): void {
    const [oldest] = share?.keys ?? [];
    if (oldest !== undefined) this.delete(oldest);
  }
}

/** What was found, and when it was begun to be looked for. */
interface Found<T> {
  readonly value: T;
  /** Milliseconds since the epoch. */
  readonly lookedAtMs: number;
  /** Whether it was looked for because of this question, which then has waited. */
  readonly isNew: boolean;
}

interface LastFoundOptions {
  /** What is older is waited for. */
  readonly maxAgeMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Answers from what was found last and looks again in the background; the first question, and one after a long time, waits. */
export class LastFound<T> {
  readonly #options: LastFoundOptions;
  readonly #found = new Map<string, Omit<Found<T>, "isNew">>();
  readonly #looking = new Map<string, Promise<Omit<Found<T>, "isNew">>>();

  constructor(options: LastFoundOptions) {
    this.#options = options;
  }

  /** `look` goes on when the question is given up. @throws what the look does, and then nothing found before is kept */
  async find(key: string, look: () => Promise<T>, signal: AbortSignal | undefined): Promise<Found<T>> {
    const last = this.#found.get(key);
    const looking = this.#look(key, look);
    const ageMs = last === undefined ? Number.NaN : this.#options.now() - last.lookedAtMs;
    if (last !== undefined && ageMs >= 0 && ageMs <= this.#options.maxAgeMs) return { ...last, isNew: false };
    return { ...(await untilCancelled(looking, signal)), isNew: true };
  }

  /** What was found does not hold any more, nor does what is being looked for. */
  forget(): void {
    this.#found.clear();
    this.#looking.clear();
  }

  /** One at a time of each. */
  #look(key: string, look: () => Promise<T>): Promise<Omit<Found<T>, "isNew">> {
    const looking = this.#looking.get(key) ?? this.#begin(key, look);
    looking.catch(() => {
      // The next question waits, and is told.
    });
    return looking;
  }

  #begin(key: string, look: () => Promise<T>): Promise<Omit<Found<T>, "isNew">> {
    const lookedAtMs = this.#options.now();
    const looking = look().then((value) => ({ value, lookedAtMs }));
    this.#looking.set(key, looking);
    const settle = (found: Omit<Found<T>, "isNew"> | null): void => {
      if (this.#looking.get(key) !== looking) return;
      this.#looking.delete(key);
      if (found === null) this.#found.delete(key);
      else this.#found.set(key, found);
    };
    void looking.then(settle, () => settle(null));
    return looking;
  }
}
