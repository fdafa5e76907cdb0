import type { AgentFact } from "./agent-fact.ts";

/** Maximum length of an answer and a message, in characters: they are held in memory and end up in one line of JSON. */
const maxTextLength = 4_000_000;

/** The state of a run so far, according to its agent. */
export class AgentProgress {
  #sessionId: string | null = null;
  #said = "";
  #answer: string | null = null;
  #failure: string | null = null;

  add(facts: readonly AgentFact[]): void {
    for (const fact of facts) this.#addOne(fact);
  }

  /** The agent's own name for the conversation; null until it reports one. */
  get sessionId(): string | null {
    return this.#sessionId;
  }

  /** Its final answer; null if it said nothing. */
  get answer(): string | null {
    const text = this.#answer ?? this.#said;
    return text === "" ? null : text;
  }

  /** Why it failed; null if it did not, or continued afterwards. */
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
    // What it says after a tool does not continue what it said before.
    else if (fact.kind === "calls") this.#said = "";
  }
}
