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
  /** The part that it is about, if only runs that ask for one OCI runtime use it. */
  readonly only_with?: { readonly oci_runtime: string; readonly part: string } | undefined;
}
