/** Options and arguments of one call; options are looked up by their first long name. */
export class ParsedOptions {
  readonly #flags: ReadonlySet<string>;
  readonly #values: ReadonlyMap<string, readonly string[]>;
  /** Everything that is not an option, in order, including the words that a command passes through. */
  readonly arguments: readonly string[];

  constructor(flags: ReadonlySet<string>, values: ReadonlyMap<string, readonly string[]>, words: readonly string[]) {
    this.#flags = flags;
    this.#values = values;
    this.arguments = words;
  }

  has(flag: string): boolean {
    return this.#flags.has(flag);
  }

  /** The last value that was given. */
  one(option: string): string | undefined {
    return this.#values.get(option)?.at(-1);
  }

  all(option: string): readonly string[] {
    return this.#values.get(option) ?? [];
  }

  /** A value that the parser has checked to be a number. */
  number(option: string): number | undefined {
    const value = this.one(option);
    return value === undefined ? undefined : Number(value);
  }

  argument(index: number): string {
    return this.arguments[index] ?? "";
  }
}
