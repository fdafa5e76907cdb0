import { describe, expect, it } from "vitest";
import { type BitPattern, patternsOutside } from "./bit-patterns.ts";

const matches = (number: number, { mask, value }: BitPattern): boolean => (number & mask) >>> 0 === value;

describe("patternsOutside", () => {
  it("matches every other number exactly once and none of the values", () => {
    const values = [1, 2, 10, 16];
    const patterns = patternsOutside(0xff, values);
    for (let number = 0; number < 256; number += 1) {
      const hits = patterns.filter((pattern) => matches(number, pattern)).length;
      expect(hits, `number ${number}`).toBe(values.includes(number) ? 0 : 1);
    }
  });

  it("looks only at the mask's bits", () => {
    expect(patternsOutside(0xf000, [0x1000]).every(({ mask }) => (mask & ~0xf000) === 0)).toBe(true);
  });

  it("reaches the highest bit without turning negative", () => {
    const patterns = patternsOutside(0xffff_ffff, [0xffff_ffff]);
    expect(patterns).toHaveLength(32);
    expect(patterns).toContainEqual({ mask: 0x8000_0000, value: 0 });
    expect(patterns).toContainEqual({ mask: 0xffff_ffff, value: 0xffff_fffe });
  });

  it("is one pattern for everything when there is no value, and nothing when all are values", () => {
    expect(patternsOutside(0xff, [])).toEqual([{ mask: 0, value: 0 }]);
    expect(patternsOutside(0x1, [0, 1])).toEqual([]);
  });
});
