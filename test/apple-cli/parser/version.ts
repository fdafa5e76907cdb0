/** Whether the version is the other one or a later one; both have the form `1.2.3`. */
export function isAtLeast(version: string, other: string): boolean {
  const wanted = other.split(".").map(Number);
  for (const [index, part] of version.split(".").map(Number).entries()) {
    const difference = part - (wanted[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** The first version that has something, and the first that no longer has it. */
export interface Lifetime {
  readonly since?: string;
  readonly until?: string;
}

/** Whether something with that lifetime exists in the version. */
export function existsIn(version: string, { since, until }: Lifetime): boolean {
  return (since === undefined || isAtLeast(version, since)) && (until === undefined || !isAtLeast(version, until));
}
