/** How bad a finding is: `danger` when a sandbox may be broken out of, `warning` to be looked into, `note` to be known. */
export const severities = ["danger", "warning", "note"] as const;
export type Severity = (typeof severities)[number];

/** Something that an operator should know of an engine; each part is one or two sentences. */
export interface Finding {
  readonly severity: Severity;
  readonly what: string;
  readonly why: string;
  /** What to do about it. */
  readonly fix: string;
}
