/** Labels and names of everything that an installation of the stand-in makes on Docker. */
export const marks = {
  scope: "test.apple-cli.scope",
  /** What `list` and `inspect` show, as JSON. */
  configuration: "test.apple-cli.configuration",
} as const;

/** Docker's name for the object with that name in an installation. */
export function scopedName(scope: string, name: string): string {
  return `apple-cli-${scope}-${name}`;
}

/** A filter for Docker's lists that selects what belongs to an installation. */
export function scopeFilter(scope: string, more: Readonly<Record<string, readonly string[]>> = {}): string {
  return encodeURIComponent(JSON.stringify({ label: [`${marks.scope}=${scope}`], ...more }));
}
