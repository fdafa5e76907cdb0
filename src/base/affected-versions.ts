import { compareVersions, parseUpstreamVersion, type UpstreamVersion } from "./upstream-version.ts";

/** Versions of a product that have a fault: from `from` (default: the first) up to, not including, `fixed`. */
export interface AffectedVersions {
  readonly from?: string;
  readonly fixed: string;
}

/** The version that fixes the fault for the series that this one belongs to; null when this one does not have it. */
export function fixedVersion(version: UpstreamVersion, affected: readonly AffectedVersions[]): string | null {
  const range = affected.find(({ from = "0", fixed }) => {
    const [first, last] = [parseUpstreamVersion(from), parseUpstreamVersion(fixed)];
    if (first === null || last === null) throw new TypeError(`No version: ${from} or ${fixed}.`);
    return compareVersions(version, first) >= 0 && compareVersions(version, last) < 0;
  });
  return range?.fixed ?? null;
}
