/** Matches each number whose bits under `mask` equal `value`. Both are unsigned 32 bits. */
export interface BitPattern {
  readonly mask: number;
  readonly value: number;
}

/**
 * Disjoint patterns for the numbers whose bits under `mask` are none of `values`: what "not equal" is for a filter that
 * can only test one pattern a rule.
 */
export function patternsOutside(mask: number, values: readonly number[]): readonly BitPattern[] {
  const patterns: BitPattern[] = [];
  const walk = (bit: number, prefix: BitPattern, inside: readonly number[]): void => {
    if (inside.length === 0) patterns.push(prefix);
    else if (bit >= 0) {
      const weight = 2 ** bit;
      const at = (value: number): boolean => Math.floor(value / weight) % 2 === 1;
      if (!at(mask)) return walk(bit - 1, prefix, inside);
      const longer = prefix.mask + weight;
      walk(
        bit - 1,
        { mask: longer, value: prefix.value },
        inside.filter((value) => !at(value)),
      );
      walk(bit - 1, { mask: longer, value: prefix.value + weight }, inside.filter(at));
    }
  };
  walk(31, { mask: 0, value: 0 }, values);
  return patterns;
}
