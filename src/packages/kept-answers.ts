import { createHash } from "node:crypto";
import type { ImportedPackages } from "./scan-request.ts";

/** Maximum answers kept; beyond that, the least recently used is dropped. Each is at most 64 KiB, mostly some names. */
const maxKept = 64;

/**
 * What earlier searches for imports found, so that the same code is parsed once. An answer follows from what the search
 * was given and from nothing else, so whoever sends the same code may have it. Of the code only a hash is kept.
 */
export class KeptAnswers {
  readonly #answers = new Map<string, ImportedPackages>();

  /** `input`: all that the search is given. Null: it has not been answered, or that was long ago. */
  find(input: string): ImportedPackages | null {
    const key = hashOf(input);
    const answer = this.#answers.get(key);
    if (answer === undefined) return null;
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    return answer;
  }

  keep(input: string, answer: ImportedPackages): void {
    this.#answers.set(hashOf(input), answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > maxKept && oldest !== undefined) this.#answers.delete(oldest);
  }
}

function hashOf(input: string): string {
  return createHash("sha256").update(input).digest("base64");
}
