import { expect, it } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

it("is one text for equal objects, whatever the order in which they were put together", () => {
  const one = canonicalJson({ b: [2, { d: 1, c: undefined, a: null }], a: "x" });
  expect(one).toBe('{"a":"x","b":[2,{"a":null,"d":1}]}');
  expect(canonicalJson({ a: "x", b: [2, { a: null, d: 1 }] })).toBe(one);
  expect(canonicalJson({ a: "x", b: [{ a: null, d: 1 }, 2] })).not.toBe(one);
});
