/** Whether the version is the other one or a later one; both are `1.2.3`. */
export function isAtLeast(version: string, other: string): boolean {
  const wanted = other.split(".").map(Number);
  for (const [index, part] of version.split(".").map(Number).entries()) {
    const difference = part - (wanted[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** From which version on, and before which, something is there. */
export interface Lifetime {
  readonly since?: string;
  readonly until?: string;
}

/** Whether something with that lifetime is there in the version. */
export function existsIn(version: string, { since, until }: Lifetime): boolean {
  return (since === undefined || isAtLeast(version, since)) && (until === undefined || !isAtLeast(version, until));
}
