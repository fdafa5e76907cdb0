import { describe, expect, it } from "vitest";
import { z } from "zod";
import { toGloveboxError } from "../../errors/glovebox-error.ts";
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
