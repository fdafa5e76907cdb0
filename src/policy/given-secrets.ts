import { Redaction, type NamedSecret } from "./redaction.ts";

/**
 * The secrets that a place whose files last has been given until now. What one program of it was given another may find,
 * in a file or a process list: so all of them are taken out of what each writes.
 */
export class GivenSecrets {
  readonly #given = new Map<string, NamedSecret>();

  add(secrets: readonly NamedSecret[]): void {
    for (const { name, value } of secrets) this.#given.set(JSON.stringify([name, value]), { name, value });
  }

  /** For one program's output, or one text. */
  redaction(): Redaction {
    return new Redaction([...this.#given.values()]);
  }
}
