/** How each request ended: exactly once, or it is a problem. */
export class Ledger {
  readonly problems: string[] = [];
  readonly #ends = new Map<string, Map<string, number>>();
  readonly #open = new Map<symbol, string>();

  /** A request begins; `end` must be called once. */
  begin(kind: string): { readonly end: (how: string) => void } {
    const key = Symbol(kind);
    this.#open.set(key, kind);
    return {
      end: (how) => {
        if (!this.#open.delete(key)) this.problems.push(`A request (${kind}) ended twice, at last as ${how}.`);
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
