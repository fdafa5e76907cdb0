/** Slower answers are worth a look. */
const slowMs = 60_000;

/** How each request ended: exactly once, or it is a problem. */
export class Ledger {
  readonly problems: string[] = [];
  /** Answers that took long, as sentences. */
  readonly slow: string[] = [];
  readonly #ends = new Map<string, Map<string, number>>();
  readonly #open = new Map<symbol, string>();

  /** A request begins; `end` must be called once. */
  begin(kind: string, request: string): { readonly end: (how: string) => void } {
    const key = Symbol(kind);
    const begunMs = performance.now();
    this.#open.set(key, kind);
    return {
      end: (how) => {
        if (!this.#open.delete(key)) this.problems.push(`A request (${kind}) ended twice, at last as ${how}.`);
        const tookMs = performance.now() - begunMs;
        if (tookMs > slowMs) this.slow.push(`${kind}: ${request} took ${Math.round(tookMs / 1_000)} s: ${how}.`);
        const ends = this.#ends.get(kind) ?? new Map<string, number>();
        this.#ends.set(kind, ends.set(how, (ends.get(how) ?? 0) + 1));
      },
    };
  }

  /** Records a problem; the same one is recorded only a few times. */
  note(problem: string): void {
    if (this.problems.filter((each) => each === problem).length < 3) this.problems.push(problem);
  }

  /** Those that have not ended. */
  get open(): readonly string[] {
    return [...this.#open.values()];
  }

  get ends(): Record<string, Record<string, number>> {
    return Object.fromEntries(sorted(this.#ends).map(([kind, ends]) => [kind, Object.fromEntries(sorted(ends))]));
  }
}

function sorted<Value>(map: ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] {
  return [...map].toSorted(([a], [b]) => a.localeCompare(b));
}
