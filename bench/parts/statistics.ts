/** The value below which that share of the values lies; NaN if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The ratio; null if either value is unknown. */
export function ratio(value: number | null | undefined, base: number | null | undefined): number | null {
  if (value === null || value === undefined || base === null || base === undefined || base === 0) return null;
  return Number.isFinite(value / base) ? value / base : null;
}

/** Rounded to no more digits than were measured. */
export function rounded(values: Readonly<Record<string, number | null>>): Record<string, number | null> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, value === null ? null : Number(value.toPrecision(4))]),
  );
}
