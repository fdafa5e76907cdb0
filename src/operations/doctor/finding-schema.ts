/**
 * Severity: `danger` if programs may break out of a sandbox, `warning` if someone should look into it, `note` for
 * information.
 */
export const severities = ["danger", "warning", "note"] as const;
export type Severity = (typeof severities)[number];

/** Something that an operator should know about an engine; each part is one or two sentences. */
export interface Finding {
  readonly severity: Severity;
  readonly what: string;
  readonly why: string;
  /** What to do about it. */
  readonly fix: string;
}
