import { expect, it } from "vitest";
import { hasLongText, jsonParts } from "./http-answer.ts";

const long = 'a "quoted" line with \u0000, \ud800 alone, é and 🙂\n';
const values: readonly unknown[] = [
  { outcome: "completed", stdout: long.repeat(10_000), stderr: undefined, nothing: null, list: [1, undefined, "b"] },
  {
    artifacts: [
      { path: "a", content: "x".repeat(16_385) },
      { path: "b", content: "" },
    ],
    'na"me': [[], {}],
  },
  [`${"x".repeat(16_383)}🙂${"y".repeat(16_383)}\ud800`, 2],
  "🙂".repeat(100_000),
];

it.each(values.map((value, index) => [index, value] as const))("writes what JSON.stringify writes, %i", (_, value) => {
  expect(hasLongText(value)).toBe(true);
  const parts = [...jsonParts(value)];
  expect(parts.join("") === JSON.stringify(value)).toBe(true);
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(6 * 16_384 + 1);
});

it("leaves what is short in one part", () => {
  const value = { a: ["x".repeat(16_384)], b: null, c: undefined };
  expect(hasLongText(value)).toBe(false);
  expect([...jsonParts(value)]).toEqual([JSON.stringify(value)]);
});
