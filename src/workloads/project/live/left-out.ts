/** Names that one sentence tells. */
const maxNames = 10;
/** Reasons are ours; there are few of them. */
type Reason = "neither a file, a folder nor a link" | "not readable" | "names that are not UTF-8" | "too deep";

/** What is not copied, and why. */
export class LeftOut {
  readonly #told = new Map<Reason, { readonly names: string[]; count: number }>();

  add(path: string, reason: Reason): void {
    const told = this.#told.get(reason) ?? { names: [], count: 0 };
    told.count += 1;
    if (told.names.length < maxNames && !told.names.includes(path)) told.names.push(path);
    this.#told.set(reason, told);
  }

  /** One sentence for each reason; what was told is not told again. */
  take(): readonly string[] {
    const sentences = [...this.#told].map(([reason, { names, count }]) => {
      const shown = names.map((name) => JSON.stringify(name.slice(0, 200)));
      const rest = count > names.length ? ` and ${count - names.length} more` : "";
      return `Left out, ${reason}: ${shown.join(", ")}${rest}.`;
    });
    this.#told.clear();
    return sentences;
  }
}
