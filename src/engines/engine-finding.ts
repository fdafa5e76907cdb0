/** What an engine itself has found that an operator should know of; each part is one or two sentences. */
export interface EngineFinding {
  /** `warning`: sandboxes fail, or a wall is weaker than it could be; `note`: good to know. */
  readonly severity: "warning" | "note";
  readonly what: string;
  readonly why: string;
  /** What to do about it. */
  readonly fix: string;
}
