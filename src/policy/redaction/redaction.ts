import { PatternAutomaton } from "./pattern-automaton.ts";
import { Redactor } from "./redactor.ts";
import { secretSpellings } from "./secret-spellings.ts";

/** A secret as redaction knows it. */
export interface NamedSecret {
  readonly name: string;
  readonly value: string;
}

/**
 * Takes the values of a run's secrets out of what is stored, shown or sent on: a seat belt and no wall, because the
 * program owns the values and can write them in ways of its own (docs/secrets.md).
 */
export class Redaction {
  readonly #automaton: PatternAutomaton | null;
  readonly #found = new Set<string>();
  /** Names of secrets that are too short to be looked for. */
  readonly tooShort: readonly string[];

  constructor(secrets: readonly NamedSecret[]) {
    const patterns = secrets.flatMap(({ name, value }) => secretSpellings(value).map((bytes) => ({ name, bytes })));
    const named = new Set(patterns.map(({ name }) => name));
    this.tooShort = [...new Set(secrets.map(({ name }) => name))].filter((name) => !named.has(name));
    this.#automaton = patterns.length === 0 ? null : new PatternAutomaton(patterns);
  }

  /** Names of the secrets whose values were taken out of something until now. */
  get found(): readonly string[] {
    return [...this.#found].toSorted();
  }

  /** For one stream; null when there is nothing to look for. */
  stream(): Redactor | null {
    return this.#automaton === null ? null : new Redactor(this.#automaton, (name) => this.#found.add(name));
  }

  /** The same bytes when nothing is found in them. */
  bytes(bytes: Uint8Array): Uint8Array {
    const redactor = this.stream();
    return redactor === null ? bytes : Buffer.concat([redactor.write(bytes), redactor.end()]);
  }

  text(text: string): string {
    return this.#automaton === null ? text : Buffer.from(this.bytes(Buffer.from(text))).toString();
  }
}
