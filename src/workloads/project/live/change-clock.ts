/** A turn comes when so long nothing more has changed, and at the latest so long after the first change. */
const quietMs = 40;
const lateMs = 250;
/** After a turn that failed the next one waits, twice as long each time. */
const firstRetryMs = 1_000;
const maxRetryMs = 30_000;
/** At the most so long after a turn, as long as it took, changes wait: what never stops changing takes half the time. */
const maxRestMs = 1_000;
/** When everything is looked through again: where changes are watched, and where they are not; never more than a share of the time. */
const rounds = {
  watched: { leastMs: 15_000, factor: 30 },
  unwatched: { leastMs: 400, factor: 3 },
};

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

type Turn = (isDeep: boolean) => Promise<{ readonly isWatched: boolean }>;

/** Says when it is time to look for changes and to send them; one turn at a time. */
export class ChangeClock {
  readonly #now: () => number;
  readonly #turn: Turn;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Infinity;
  #firstAt: number | null = null;
  #restUntil = -Infinity;
  #deepAt = Infinity;
  #retryMs = 0;
  #waiters: Waiter[] = [];
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(monotonicMs: () => number, turn: Turn) {
    this.#now = monotonicMs;
    this.#turn = turn;
  }

  /** Changes that came before are due. */
  start({ isWatched }: { readonly isWatched: boolean }): void {
    this.#planRound(isWatched, 0);
    this.#plan(this.#firstAt === null ? this.#deepAt : this.#now());
  }

  /** Something has changed. */
  wake(): void {
    const now = this.#now();
    this.#firstAt ??= now;
    if (this.#deepAt === Infinity || this.#running !== null) return;
    this.#dueAt = Infinity;
    this.#plan(Math.min(now + quietMs, this.#firstAt + lateMs));
  }

  /** Resolves with a turn that looks through everything. @throws what the turn throws */
  turn(): Promise<void> {
    if (this.#isClosed) return Promise.reject(closed());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiters.push({ resolve, reject });
    this.#restUntil = -Infinity;
    this.#retryMs = 0;
    if (this.#running === null) this.#plan(this.#now());
    return promise;
  }

  /** Resolves when no turn goes on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
    for (const { reject } of this.#waiters.splice(0)) reject(closed());
  }

  #plan(at: number): void {
    if (this.#isClosed) return;
    this.#dueAt = Math.min(this.#dueAt, at);
    clearTimeout(this.#timer);
    const wait = Math.max(this.#dueAt, this.#restUntil) - this.#now();
    this.#timer = setTimeout(() => this.#begin(), Math.max(0, wait));
  }

  #begin(): void {
    if (this.#running !== null || this.#isClosed) return;
    this.#running = this.#run().finally(() => {
      this.#running = null;
      if (this.#waiters.length > 0) this.#plan(this.#now());
      else if (this.#firstAt !== null) this.#plan(this.#now() + quietMs);
      else this.#plan(this.#deepAt);
    });
  }

  async #run(): Promise<void> {
    const waiters = this.#waiters.splice(0);
    const startedAt = this.#now();
    const isDeep = waiters.length > 0 || startedAt >= this.#deepAt || this.#retryMs > 0;
    [this.#firstAt, this.#dueAt] = [null, Infinity];
    try {
      const { isWatched } = await this.#turn(isDeep);
      this.#retryMs = 0;
      const tookMs = this.#now() - startedAt;
      this.#restUntil = this.#now() + Math.min(maxRestMs, tookMs);
      if (isDeep) this.#planRound(isWatched, tookMs);
      else if (!isWatched) this.#deepAt = Math.min(this.#deepAt, this.#now() + rounds.unwatched.leastMs);
      for (const { resolve } of waiters) resolve();
    } catch (error) {
      this.#retryMs = Math.min(maxRetryMs, this.#retryMs === 0 ? firstRetryMs : this.#retryMs * 2);
      this.#restUntil = this.#now() + this.#retryMs;
      this.#deepAt = this.#restUntil;
      for (const { reject } of waiters) reject(error);
    }
  }

  #planRound(isWatched: boolean, tookMs: number): void {
    const { leastMs, factor } = isWatched ? rounds.watched : rounds.unwatched;
    this.#deepAt = this.#now() + Math.max(leastMs, tookMs * factor);
  }
}

function closed(): Error {
  return new Error("The copy is closed.");
}
