import { packageName, type Ecosystem } from "../../policy/install-policy.ts";

/** The packages that a session's programs can import, as specifications. */
export type SessionPackages = Readonly<Record<Ecosystem, readonly string[]>>;

export const noPackages: SessionPackages = { npm: [], python: [] };

/** Those with the wanted ones added; null when they are all there. One with a version replaces another. */
export function withPackages(
  known: SessionPackages,
  ecosystem: Ecosystem,
  wanted: readonly string[],
): SessionPackages | null {
  const byName = new Map(known[ecosystem].map((spec) => [packageName(spec, ecosystem), spec]));
  let isChanged = false;
  for (const spec of wanted) {
    const name = packageName(spec, ecosystem);
    const had = byName.get(name);
    // A bare name accepts any version.
    if (had === spec || (had !== undefined && spec.toLowerCase() === name)) continue;
    byName.set(name, spec);
    isChanged = true;
  }
  return isChanged ? { ...known, [ecosystem]: [...byName.values()].toSorted() } : null;
}
