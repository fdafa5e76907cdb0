/** Matches each number whose bits under `mask` equal `value`. Both are unsigned 32 bits. */
export interface BitPattern {
  readonly mask: number;
  readonly value: number;
}

/**
 * Disjoint patterns for the numbers whose bits under `mask` are none of `values`: what "not equal" is for a filter that
 * can only test one pattern a rule.
 *
 * Each costs an engine time at every start, so there are to be few: a bit in which all values agree takes one pattern
 * and leaves them together, so such bits come first, and values are parted where most of them follow.
 */
export function patternsOutside(mask: number, values: readonly number[]): readonly BitPattern[] {
  const patterns: BitPattern[] = [];
  const walk = (weights: readonly number[], prefix: BitPattern, inside: readonly number[]): void => {
    if (inside.length === 0) patterns.push(prefix);
    const [weight, ...others] = inside.length === 0 ? [] : bestFirst(weights, inside);
    if (weight === undefined) return;
    const longer = prefix.mask + weight;
    const [unset, set] = part(weight, inside);
    walk(others, { mask: longer, value: prefix.value }, unset);
    walk(others, { mask: longer, value: prefix.value + weight }, set);
  };
  const weights = Array.from({ length: 32 }, (_, bit) => 2 ** bit).filter((weight) => hasBit(mask, weight));
  walk(weights, { mask: 0, value: 0 }, values);
  return patterns;
}

/** The bits, as their weights, with the one first that is to be tested next. */
function bestFirst(weights: readonly number[], values: readonly number[]): readonly number[] {
  const rank = (weight: number): number => {
    const parts = part(weight, values).filter(({ length }) => length > 0);
    if (parts.length === 1) return Number.POSITIVE_INFINITY;
    return parts.reduce((sum, each) => sum + weights.filter((other) => agree(other, each)).length, 0);
  };
  return weights.toSorted((left, right) => rank(right) - rank(left));
}

function agree(weight: number, values: readonly number[]): boolean {
  return part(weight, values).some(({ length }) => length === 0);
}

/** The values without the bit, and those with it. */
function part(weight: number, values: readonly number[]): readonly [readonly number[], readonly number[]] {
  return [values.filter((value) => !hasBit(value, weight)), values.filter((value) => hasBit(value, weight))];
}

function hasBit(value: number, weight: number): boolean {
  return Math.floor(value / weight) % 2 === 1;
}
