import { untilCancelled } from "./abort.ts";

/** What was found, and when it was begun to be looked for. */
export interface Found<T> {
  readonly value: T;
  /** Milliseconds since the epoch. */
  readonly lookedAtMs: number;
  /** Whether it was looked for because of this question, which then has waited. */
  readonly isNew: boolean;
}

export interface LastFoundOptions {
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
