import type { RunningCall } from "./running-call.ts";

/** How long a call's answer can be retrieved by its id. */
export const keptForMs: number = 15 * 60_000;
/** How many ended calls are kept per principal, and in total; the oldest is dropped first. */
const maxOfOne = 256;
const maxOfAll = 4096;

export interface KeptCallsOptions<Answer> {
  readonly monotonicMs: () => number;
  /** Size of an answer, in the unit of `maxSize`; default: 0. */
  readonly sizeOf?: ((answer: Answer) => number) | undefined;
  /** Of all answers of one principal together. */
  readonly maxSize?: number | undefined;
}

interface KnownCall<Answer> {
  readonly call: RunningCall<Answer>;
  /** Null while it is running. */
  ended: { readonly atMs: number; readonly size: number } | null;
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
    void call.ended.then((answer) => {
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
    const maxSize = this.#options.maxSize ?? Number.POSITIVE_INFINITY;
    const remaining: KnownCall<Answer>[] = [];
    for (const own of this.#known.values()) {
      let [count, size] = [0, 0];
      // Newest first.
      for (const known of [...own.values()].toReversed()) {
        if (known.ended === null) continue;
        count += 1;
        size += known.ended.size;
        if (known.ended.atMs < endedBefore || count > maxOfOne || size > maxSize) this.forget(known.call);
        else remaining.push(known);
      }
    }
    if (remaining.length <= maxOfAll) return;
    const byEnd = remaining.toSorted((a, b) => (a.ended?.atMs ?? 0) - (b.ended?.atMs ?? 0));
    for (const { call } of byEnd.slice(0, remaining.length - maxOfAll)) this.forget(call);
  }
}
