/** A version as its upstream numbers it, taken out of what a part says. */
export interface UpstreamVersion {
  readonly numbers: readonly number[];
  /** Of a version before a release: `rc`, `beta`, `alpha` or `dev`, with its number. */
  readonly preRelease: { readonly stage: string; readonly number: number } | null;
  /** What follows, such as `+ds1-1+deb12u1`; empty for upstream's own builds. */
  readonly suffix: string;
}

/** Order of what comes before a release. */
const stages = ["dev", "alpha", "beta", "rc"];

/**
 * Reads `1.1.12`, `v1.2.0-rc.1`, `1.0.0~rc95+ds1`, `1:4.9.4`; null when it begins with no number.
 *
 * In `1.6.20~ds1` the tilde marks a repacked source, and not something before 1.6.20.
 */
export function parseUpstreamVersion(text: string): UpstreamVersion | null {
  const [, digits, rest = ""] = /^(?:\d+:)?v?(\d+(?:\.\d+)*)(.*)$/s.exec(text.trim()) ?? [];
  if (digits === undefined) return null;
  const [whole = "", stage, number = "0"] = /^[-~.+]?(dev|alpha|beta|rc)[-.]?(\d*)(?![a-z0-9])/i.exec(rest) ?? [];
  return {
    numbers: digits.split(".").map(Number),
    preRelease: stage === undefined ? null : { stage: stage.toLowerCase(), number: Number(number) },
    suffix: rest.slice(whole.length),
  };
}

/** Negative when `a` comes before `b`, 0 when upstream calls them the same. */
export function compareVersions(a: UpstreamVersion, b: UpstreamVersion): number {
  const length = Math.max(a.numbers.length, b.numbers.length);
  for (let index = 0; index < length; index += 1) {
    const difference = (a.numbers[index] ?? 0) - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.preRelease === null || b.preRelease === null) {
    return Number(a.preRelease === null) - Number(b.preRelease === null);
  }
  const byStage = stages.indexOf(a.preRelease.stage) - stages.indexOf(b.preRelease.stage);
  return byStage === 0 ? a.preRelease.number - b.preRelease.number : byStage;
}

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
