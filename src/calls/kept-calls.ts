import type { RunningCall } from "./running-call.ts";

/** How long a call's answer can be retrieved by its id. */
export const keptForMs: number = 15 * 60_000;
/** How many ended calls are kept per principal, and in total; whoever has most loses the oldest. */
const maxOfOne = 256;
const maxOfAll = 4096;

export interface KeptCallsOptions<Answer> {
  readonly monotonicMs: () => number;
  /** Makes an answer smaller before it is counted; until then its call counts as running. Default: nothing. */
  readonly pack?: ((answer: Answer) => Promise<void>) | undefined;
  /** Size of an answer, in the unit of `maxSize`; default: 0. */
  readonly sizeOf?: ((answer: Answer) => number) | undefined;
  /** Of all answers of one principal together; default: no limit. */
  readonly maxSize?: number | undefined;
  /** Of all answers together; who holds most gives up its oldest first. Default: no limit. */
  readonly maxTotalSize?: number | undefined;
}

interface KnownCall<Answer> {
  readonly call: RunningCall<Answer>;
  /** Null while it is running. */
  ended: { readonly atMs: number; readonly size: number } | null;
}

/** What one principal has of answers that are kept. */
interface Holding<Answer> {
  /** Newest first. */
  readonly calls: { readonly call: RunningCall<Answer>; readonly atMs: number; readonly size: number }[];
  size: number;
}

/** Calls that can be retrieved by their id: running ones, and for a while and within bounds those that have ended. */
export class KeptCalls<Answer> {
  readonly #options: KeptCallsOptions<Answer>;
  /** By principal, then by id. */
  readonly #known = new Map<string, Map<string, KnownCall<Answer>>>();

  constructor(options: KeptCallsOptions<Answer>) {
    this.#options = options;
  }

  /** From now on the call can be found. */
  keep(call: RunningCall<Answer>): void {
    const own = this.#known.get(call.principal) ?? new Map<string, KnownCall<Answer>>();
    if (own.has(call.id)) return;
    const known: KnownCall<Answer> = { call, ended: null };
    this.#known.set(call.principal, own.set(call.id, known));
    void call.ended.then(async (answer) => {
      if (this.#options.pack !== undefined) await this.#options.pack(answer);
      known.ended = { atMs: this.#options.monotonicMs(), size: this.#options.sizeOf?.(answer) ?? 0 };
      this.#forgetOld();
    });
    this.#forgetOld();
  }

  find(id: string, principal: string): RunningCall<Answer> | undefined {
    this.#forgetOld();
    return this.#known.get(principal)?.get(id)?.call;
  }

  forget({ id, principal }: RunningCall<Answer>): void {
    const own = this.#known.get(principal);
    own?.delete(id);
    if (own?.size === 0) this.#known.delete(principal);
  }

  clear(): void {
    this.#known.clear();
  }

  #forgetOld(): void {
    const endedBefore = this.#options.monotonicMs() - keptForMs;
    const { maxSize = Number.POSITIVE_INFINITY, maxTotalSize = Number.POSITIVE_INFINITY } = this.#options;
    const holdings: Holding<Answer>[] = [];
    for (const own of this.#known.values()) {
      const holding: Holding<Answer> = { calls: [], size: 0 };
      let [count, size] = [0, 0];
      // Newest first.
      for (const { call, ended } of [...own.values()].toReversed()) {
        if (ended === null) continue;
        count += 1;
        size += ended.size;
        if (ended.atMs < endedBefore || count > maxOfOne || size > maxSize) this.forget(call);
        else {
          holding.calls.push({ call, ...ended });
          holding.size += ended.size;
        }
      }
      if (holding.calls.length > 0) holdings.push(holding);
    }
    this.#forgetOfLargest(holdings, maxTotalSize);
    this.#forgetOfMost(holdings);
  }

  #forgetOfMost(holdings: readonly Holding<Answer>[]): void {
    let count = holdings.reduce((sum, { calls }) => sum + calls.length, 0);
    for (; count > maxOfAll; count -= 1) {
      const most = holdings.reduce((one, other) => (other.calls.length > one.calls.length ? other : one));
      const oldest = most.calls.pop();
      if (oldest !== undefined) this.forget(oldest.call);
    }
  }

  #forgetOfLargest(holdings: readonly Holding<Answer>[], maxTotalSize: number): void {
    let total = holdings.reduce((sum, { size }) => sum + size, 0);
    while (total > maxTotalSize) {
      const largest = holdings.reduce((one, other) => (other.size > one.size ? other : one));
      const oldest = largest.calls.pop();
      if (oldest === undefined) return;
      this.forget(oldest.call);
      largest.size -= oldest.size;
      total -= oldest.size;
    }
  }
}
