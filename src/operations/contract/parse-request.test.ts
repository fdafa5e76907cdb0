import { describe, expect, it } from "vitest";
import { z } from "zod";
import { toGloveboxError } from "../../errors/glovebox-error.ts";
import { listOf, textsByName } from "./bounded-schemas.ts";
import { parseRequest } from "./parse-request.ts";

const request = z.strictObject({ names: z.array(z.string()), inner: z.strictObject({ a: z.string() }).optional() });

function messageFor(body: unknown): string {
  try {
    parseRequest({ request }, body);
  } catch (error) {
    return toGloveboxError(error).message;
  }
  throw new Error("It was taken.");
}

describe("the error of a request that does not fit", () => {
  it("names each field by its path", () => {
    expect(messageFor({ names: ["a", 1], inner: { a: 2, b: 1, c: 1 } })).toMatch(
      /names\[1\]: .*; inner\.a: .*; inner\.b: unknown fields b, c\./,
    );
    expect(messageFor([])).toMatch(/request: /);
  });

  it("stays short however much is wrong", () => {
    const long = "x".repeat(100_000);
    expect(messageFor({ names: [], [long]: 1 })).toMatch(/xxx\.\.\.: unknown field\.$/);
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field_${index}`, 1]));
    expect(messageFor({ names: [], ...many })).toMatch(/field_19 and 980 more\.$/);
    expect(messageFor({ names: Array.from({ length: 1000 }, () => 1) })).toMatch(/names\[19\]: .*; and 980 more\.$/);
    expect(messageFor({ names: [], ...many, [long]: 1 }).length).toBeLessThan(1000);
  });
});

describe("a request with too many of something", () => {
  let looks = 0;
  const counted = z.custom<string>((value) => {
    looks += 1;
    return typeof value === "string";
  });
  const bounded = z.strictObject({
    files: listOf(z.union([z.string(), z.strictObject({ path: z.string() })]), 3).optional(),
    lists: listOf(listOf(counted, 2), 2).optional(),
    byName: textsByName(2).optional(),
    either: z.union([z.literal("all"), listOf(counted, 2)]).optional(),
    inner: z.strictObject({ names: listOf(counted, 2) }).optional(),
  });
  const many = Array.from({ length: 100_000 }, () => ({}));

  it.each([
    ["files", { files: many }, "files: expected at most 3 items, got 100000"],
    ["lists[1]", { lists: [["a"], many] }, "lists[1]: expected at most 2 items, got 100000"],
    ["byName", { byName: { a: "1", b: "2", c: "3" } }, "byName: expected at most 2 entries, got 3"],
    ["either", { either: many, files: ["a"] }, "either: expected at most 2 items, got 100000"],
    ["inner.names", { inner: { names: many } }, "inner.names: expected at most 2 items, got 100000"],
  ])("is refused before any of them is looked at: %s", (field, body, words) => {
    looks = 0;
    expect(() => parseRequest({ request: bounded }, body)).toThrow(
      expect.objectContaining({
        errorType: "INVALID_REQUEST",
        message: `The request is not valid: ${words}.`,
        context: { field, problems: [expect.objectContaining({ field })] },
      }),
    );
    expect(looks).toBe(0);
  });

  it("is told from one that has just as many as it may, and from one of another form", () => {
    const fits = { files: ["a", "b", { path: "c" }], lists: [["a"], []], byName: { a: "1", b: "2" }, either: "all" };
    expect(parseRequest({ request: bounded }, fits)).toEqual(fits);
    expect(() => parseRequest({ request: bounded }, { byName: many })).toThrow(
      /byName: expected an object, got a list/,
    );
    expect(() => parseRequest({ request: bounded }, many)).toThrow(/request: /);
  });
});
