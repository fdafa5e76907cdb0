/** Values of one label that are counted by themselves: a few times as many as any has that are words of ours. */
const maxValues = 256;
/** All others. */
const other = "_OTHER";

/**
 * Bounds what labels may say, whoever chose it: each distinct value is a series that is kept until the server ends. Labels are
 * words of ours; this is for the one that is not.
 */
export class BoundedLabels {
  readonly #values = new Map<string, Set<string>>();

  /** The same labels, with `_OTHER` for a value that is one too many of its label. */
  of<Name extends string>(labels: Readonly<Record<Name, string>>): Record<Name, string> {
    const bounded: Record<string, string> = {};
    for (const [name, value] of Object.entries<string>(labels)) bounded[name] = this.#value(name, value);
    return bounded;
  }

  #value(name: string, value: string): string {
    const known = this.#values.get(name) ?? new Set();
    this.#values.set(name, known);
    if (known.has(value)) return value;
    if (known.size >= maxValues) return other;
    known.add(value);
    return value;
  }
}
