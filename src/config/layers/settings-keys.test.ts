import { describe, expect, it } from "vitest";
import { nest, settingsKeys, valueAt } from "./settings-keys.ts";

describe("settingsKeys", () => {
  it("lists 106 keys, each once, each described in a sentence", () => {
    expect(new Set(settingsKeys.map((row) => row.key)).size).toBe(106);
    expect(settingsKeys.filter((row) => !/^[A-Z].*\.$/s.test(row.description))).toEqual([]);
  });
});

describe("nest and valueAt", () => {
  it("are each other's opposite", () => {
    const nested = nest([
      ["a.b.c", 1],
      ["a.b.d", null],
      ["a.e", undefined],
      ["f", [2]],
    ]);
    expect(JSON.parse(JSON.stringify(nested))).toEqual({ a: { b: { c: 1, d: null } }, f: [2] });
    expect(["a.b.c", "a.b.d", "a.e", "f", "a.b.c.x", "g.h"].map((key) => valueAt(nested, key))).toEqual([
      1,
      null,
      undefined,
      [2],
      undefined,
      undefined,
    ]);
  });

  it("reach no prototype", () => {
    nest([["__proto__.polluted", true]]);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    expect(valueAt({}, "constructor.name")).toBeUndefined();
  });
});
