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

  it("parts values after the bits in which they agree, so that there are few", () => {
    // Bit by bit from the highest, it would take 44.
    const requests = [0x5412, 0x541c, 0x5423, 0x6602, 0x5820];
    expect(patternsOutside(0xffff, requests).length).toBeLessThanOrEqual(36);
    expect(patternsOutside(0xff, [0x0f, 0x8f])).toHaveLength(7);
  });

  it("looks only at the mask's bits", () => {
    expect(patternsOutside(0xf000, [0x1000]).every(({ mask }) => (mask & ~0xf000) === 0)).toBe(true);
  });

  it("reaches the highest bit without turning negative", () => {
    const patterns = patternsOutside(0xffff_ffff, [0xffff_ffff]);
    expect(patterns).toHaveLength(32);
    expect(patterns.every(({ mask, value }) => mask > 0 && value >= 0)).toBe(true);
    const numbers = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe];
    for (const number of [...numbers, 0xffff_ffff]) {
      const hits = patterns.filter((pattern) => matches(number, pattern)).length;
      expect(hits, `number ${number}`).toBe(numbers.includes(number) ? 1 : 0);
    }
  });

  it("is one pattern for everything when there is no value, and nothing when all are values", () => {
    expect(patternsOutside(0xff, [])).toEqual([{ mask: 0, value: 0 }]);
    expect(patternsOutside(0x1, [0, 1])).toEqual([]);
  });
});
