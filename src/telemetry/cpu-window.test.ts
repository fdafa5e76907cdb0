import { describe, expect, it } from "vitest";
import { addShare, meanShare, type CpuShare } from "./alerts.ts";

/** One share after the other, each with how long it was. */
function after(...given: readonly (readonly [percent: number, forMs: number])[]): number | null {
  let shares: readonly CpuShare[] = [];
  let fromMs = 0;
  for (const [percent, forMs] of given) {
    shares = addShare(shares, { percent, fromMs, toMs: fromMs + forMs });
    fromMs += forMs;
  }
  return meanShare(shares);
}

const times = (count: number, percent: number): (readonly [number, number])[] =>
  Array.from({ length: count }, () => [percent, 1_000] as const);

describe("the mean of the last ten seconds", () => {
  it.each([
    ["is not known before", times(9, 100), null],
    ["is that of all of them", times(10, 100), 100],
    ["forgets what was before", [...times(30, 0), ...times(10, 100)], 100],
    ["takes a pause for a part", [...times(9, 100), ...times(1, 0)], 90],
    ["weighs by time", [[100, 9_000] as const, [0, 1_000] as const], 90],
    ["keeps one long share whole", [[100, 30_000] as const], 100],
  ])("%s", (_, shares, mean) => {
    expect(after(...shares)).toBe(mean);
  });

  it("does not count time that nothing is known of", () => {
    const shares = addShare([{ percent: 100, fromMs: 0, toMs: 1_000 }], { percent: 100, fromMs: 9_000, toMs: 10_000 });
    expect(meanShare(shares)).toBeNull();
  });
});
