import { describe, expect, it } from "vitest";
import { z } from "zod";
import { toGloveboxError } from "../../errors/glovebox-error.ts";
import { listOf, textsByName } from "./request-schemas.ts";
import { parseRequest, issueWords } from "./parse-request.ts";

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

const schema = z.object({
  text: z.string().optional(),
  number: z.number().optional(),
  whole: z.number().int().min(1).max(9).optional(),
  flag: z.boolean().optional(),
  list: z.array(z.string()).min(1).max(2).optional(),
  short: z.string().min(1).max(3).optional(),
  word: z.enum(["a", "b"]).optional(),
  either: z.union([z.string(), z.array(z.string())]).optional(),
  choice: z.union([z.literal("auto"), z.array(z.string())]).optional(),
  map: z.record(z.string(), z.string()).optional(),
  time: z.iso.datetime().optional(),
  own: z.string().regex(/^x$/, "expected an x").optional(),
});

const wordsFor = (value: unknown): string =>
  schema.safeParse(value, { error: issueWords }).error?.issues[0]?.message ?? "accepted";

describe("what a validator finds", () => {
  it.each([
    [{ text: 1 }, "expected a string, got 1"],
    [{ text: null }, "expected a string, got null"],
    [{ text: ["a"] }, "expected a string, got a list"],
    [{ text: {} }, "expected a string, got an object"],
    [{ number: "1" }, 'expected a number, got "1"'],
    [{ whole: 1.5 }, "expected a whole number, got 1.5"],
    [{ whole: 0 }, "expected a number of at least 1, got 0"],
    [{ whole: 10 }, "expected a number of at most 9, got 10"],
    [{ flag: "yes" }, 'expected true or false, got "yes"'],
    [{ list: "a" }, 'expected a list, got "a"'],
    [{ list: [] }, "expected at least 1 item, got a list"],
    [{ list: ["a", "b", "c"] }, "expected at most 2 items, got a list"],
    [{ list: ["a", 2] }, "expected a string, got 2"],
    [{ short: "" }, 'expected at least 1 character, got ""'],
    [{ word: "c" }, 'expected one of "a", "b", got "c"'],
    [{ either: 3 }, "expected a string or a list, got 3"],
    [{ either: ["a", 3] }, "expected a string at [1], got a list"],
    [{ choice: "all" }, 'expected "auto" or a list, got "all"'],
    [{ map: 3 }, "expected an object, got 3"],
    [{ map: { a: 3 } }, "expected a string, got 3"],
    [{ time: "now" }, 'expected a time such as 2026-11-22T21:30:00Z, got "now"'],
    [{ own: "y" }, "expected an x"],
    [3, "expected an object, got 3"],
  ])("is put into words: %j", (value, words) => expect(wordsFor(value)).toBe(words));

  it("is short whatever was sent", () => {
    expect(wordsFor({ number: "x".repeat(100_000) })).toBe(`expected a number, got "${"x".repeat(80)}..."`);
  });
});
