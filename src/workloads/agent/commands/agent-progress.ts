import type { AgentFact } from "./agent-fact.ts";

/** Longest answer and message that are kept, in characters: they are held in memory and end in one line of JSON. */
const maxTextLength = 4_000_000;

/** What came of a run so far, by what its agent has said. */
export class AgentProgress {
  #sessionId: string | null = null;
  #said = "";
  #answer: string | null = null;
  #failure: string | null = null;

  add(facts: readonly AgentFact[]): void {
    for (const fact of facts) this.#addOne(fact);
  }

  /** The agent's own name for the conversation; null while it has not said one. */
  get sessionId(): string | null {
    return this.#sessionId;
  }

  /** Its last word; null when it said nothing. */
  get answer(): string | null {
    const text = this.#answer ?? this.#said;
    return text === "" ? null : text;
  }

  /** Why it failed; null when it did not, or went on afterwards. */
  get failure(): string | null {
    return this.#failure;
  }

  #addOne(fact: AgentFact): void {
    if (fact.kind === "session") this.#sessionId = fact.id;
    else if (fact.kind === "says") {
      this.#said = `${fact.continues === true ? this.#said : ""}${fact.text}`.slice(0, maxTextLength);
      this.#failure = null;
    } else if (fact.kind === "answers") {
      this.#answer = fact.text.slice(0, maxTextLength);
      this.#failure = null;
    } else if (fact.kind === "fails") this.#failure = fact.message.slice(0, maxTextLength);
    // What it says next, after a tool, is not the rest of what it said before.
    else if (fact.kind === "calls") this.#said = "";
  }
}
