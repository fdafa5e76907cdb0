/** What ran, for people. */
export interface WorkWords {
  /** The language of a program, or the agent that has a prompt; null: a command, which says it itself. */
  readonly language: string | null;
  /** The first words of it; empty: there are none. */
  readonly line: string;
}

const languages: ReadonlyMap<string, string> = new Map([
  ["python", "Python"],
  ["javascript", "JavaScript"],
  ["typescript", "TypeScript"],
]);
/** Kinds of sandboxes whose work begins with a word for what it is. */
const programKinds: ReadonlySet<string | null> = new Set(["execute", "session"]);

/** Takes the work of a row apart, as the server's lists have it: `python: print(1)`, `npm test`. */
export function workWords(work: string, kind: string | null): WorkWords {
  const [, word = "", line = ""] = /^([a-z][a-z0-9-]{0,30})(?:: (.*)|$)/su.exec(work) ?? [];
  const language = kind === "agent" ? word : programKinds.has(kind) ? (languages.get(word) ?? "") : "";
  return language === "" ? { language: null, line: work } : { language, line };
}
