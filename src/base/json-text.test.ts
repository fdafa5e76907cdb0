import { describe, expect, it } from "vitest";
import { assertBoundedJson, maxJsonDepth, maxJsonNames, maxJsonValues, canonicalJson } from "./json-text.ts";

const check = (text: string) => assertBoundedJson(Buffer.from(text));
const list = (count: number, item: string) => `[${Array.from({ length: count }, () => item).join(",")}]`;
const object = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(",")}}`;

/** How many bytes of a text are looked at one by one. */
function looksAt(text: string): number {
  let looks = 0;
  const bytes = new Proxy(Buffer.from(text), {
    get: (target, name) => {
      if (typeof name === "string" && /^\d+$/.test(name)) looks += 1;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  try {
    assertBoundedJson(bytes);
  } catch {
    // Refused.
  }
  return looks;
}

describe("a JSON text", () => {
  it.each([
    ["empty objects", `[${"{},".repeat(maxJsonValues)}{}]`],
    ["numbers", list(maxJsonValues + 1, "1")],
    ["names", object(maxJsonNames + 1)],
    ["names of an object in a list", `[1,{},${object(maxJsonNames + 1)}]`],
    ["names around another object", `{"a":{},"b":[],${object(maxJsonNames - 1).slice(1)}`],
    ["strings of brackets", list(maxJsonValues + 1, '"[[[["')],
    ["lists that never end", "[".repeat(maxJsonDepth + 1)],
    ["nested objects", `${'{"a":'.repeat(100)}1${"}".repeat(100)}`],
    ["depth behind escapes", `["\\\\","\\"",${"[".repeat(maxJsonDepth)}`],
  ])("of too many or too deep is refused: %s", (_, text) => {
    expect(() => check(text)).toThrow(expect.objectContaining({ errorType: "INVALID_REQUEST" }));
  });

  it.each([
    ["one long string", JSON.stringify({ code: '[{,"\\'.repeat(1_000_000) })],
    ["as many values as may be", list(maxJsonValues - 1, "1")],
    ["objects of as many names as may be", list(20, object(maxJsonNames))],
    ["as many empty objects as may be", list(maxJsonValues - 1, "{}")],
    ["as deep as may be", "[".repeat(maxJsonDepth) + "]".repeat(maxJsonDepth)],
    ["no JSON at all", 'print("a'],
    ["nothing", ""],
    ["backslashes", JSON.stringify("\\".repeat(100_001))],
  ])("within the bounds is left to the parser: %s", (_, text) => {
    expect(() => check(text)).not.toThrow();
  });

  it("is looked at no further than to the bound, and strings are not looked at byte by byte", () => {
    expect(looksAt("{},".repeat(5_000_000))).toBeLessThan(6 * maxJsonValues);
    expect(looksAt(`"${"x".repeat(1_000_000)}"`)).toBeLessThan(10);
    // Twice the text is at most twice the work.
    const escaped = (count: number) => looksAt(`"${'\\"'.repeat(count)}"`);
    expect(escaped(20_000)).toBeLessThan(2.1 * escaped(10_000));
  });
});

it("is one text for equal objects, whatever the order in which they were put together", () => {
  const one = canonicalJson({ b: [2, { d: 1, c: undefined, a: null }], a: "x" });
  expect(one).toBe('{"a":"x","b":[2,{"a":null,"d":1}]}');
  expect(canonicalJson({ a: "x", b: [2, { a: null, d: 1 }] })).toBe(one);
  expect(canonicalJson({ a: "x", b: [{ a: null, d: 1 }, 2] })).not.toBe(one);
});
