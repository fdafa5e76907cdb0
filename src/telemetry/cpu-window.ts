/** A share of CPU time, and the span of time that it is the mean of, in milliseconds of one clock. */
export interface CpuShare {
  readonly percent: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** For how long the CPU must be in use for an alert (SPEC ME2). */
const windowMs = 10_000;

/** The shares that make up the last ten seconds, with one more. */
export function addShare(shares: readonly CpuShare[], share: CpuShare): readonly CpuShare[] {
  return [...shares.filter(({ toMs }) => toMs > share.toMs - windowMs), share];
}

/**
 * The mean of the last ten seconds; null while less is known. A mean, because samples come a little early or late, and a
 * pause of a moment is no end.
 */
export function meanShare(shares: readonly CpuShare[]): number | null {
  let knownMs = 0;
  let used = 0;
  for (const { percent, fromMs, toMs } of shares) {
    knownMs += toMs - fromMs;
    used += percent * (toMs - fromMs);
  }
  return knownMs < windowMs ? null : used / knownMs;
}
