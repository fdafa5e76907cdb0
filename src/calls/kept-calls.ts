import type { RunningCall } from "./running-call.ts";

/** How long the answer of a call can be asked for by its id. */
export const keptForMs: number = 15 * 60_000;
/** Ended calls of one principal that are kept, and of all; the oldest goes first. */
const maxOfOne = 256;
const maxOfAll = 4096;

export interface KeptCallsOptions<Answer> {
  readonly monotonicMs: () => number;
  /** Size of an answer, in the unit of `maxSize`; default: none has any. */
  readonly sizeOf?: ((answer: Answer) => number) | undefined;
  /** Of the answers of one principal together. */
  readonly maxSize?: number | undefined;
}

interface KnownCall<Answer> {
  readonly call: RunningCall<Answer>;
  /** Null while it works. */
  ended: { readonly atMs: number; readonly size: number } | null;
}

/** Calls that can be asked for by their id: those at work, and for a while and within bounds those that have ended. */
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
      // The newest first.
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
