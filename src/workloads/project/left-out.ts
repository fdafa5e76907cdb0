import { leftOutByName, type FilterNotes } from "./project-tree.ts";

/** Names that one sentence tells. */
const maxNames = 10;
/** What is told once, whatever a program makes of the project. */
const maxOnce = 1_000;
/** Reasons are ours; there are few of them. */
type Reason =
  | "neither a file, a folder nor a link"
  | "not readable"
  | "names that are not UTF-8"
  | "too deep"
  | typeof leftOutByName;

/** What is not copied, and why. */
export class LeftOut {
  readonly #told = new Map<Reason, { readonly names: string[]; count: number }>();
  readonly #once = new Set<string>();
  readonly #sentences: string[] = [];

  add(path: string, reason: Reason): void {
    const told = this.#told.get(reason) ?? { names: [], count: 0 };
    told.count += 1;
    if (told.names.length < maxNames && !told.names.includes(path)) told.names.push(path);
    this.#told.set(reason, told);
  }

  /** What a filter tells each time that it looks, and this tells once. */
  get notes(): FilterNotes {
    return {
      onLeftOut: (path) => {
        if (this.#isNew(path)) this.add(path, leftOutByName);
      },
      onUnknown: (sentence) => {
        if (this.#isNew(sentence)) this.#sentences.push(sentence);
      },
    };
  }

  /** One sentence for each reason; what was told is not told again. */
  take(): readonly string[] {
    const sentences = [...this.#told].map(([reason, { names, count }]) => {
      const shown = names.map((name) => JSON.stringify(name.slice(0, 200)));
      const rest = count > names.length ? ` and ${count - names.length} more` : "";
      return `Left out, ${reason}: ${shown.join(", ")}${rest}.`;
    });
    this.#told.clear();
    return [...sentences, ...this.#sentences.splice(0)];
  }

  #isNew(text: string): boolean {
    if (this.#once.has(text) || this.#once.size >= maxOnce) return false;
    this.#once.add(text);
    return true;
  }
}
