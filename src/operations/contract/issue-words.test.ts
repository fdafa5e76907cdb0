import { describe, expect, it } from "vitest";
import { z } from "zod";
import { issueWords } from "./issue-words.ts";

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
