import { describe, expect, it } from "vitest";
import { decideMinIsolation } from "./min-isolation.ts";

const own = { minimum: "namespaces", mayLower: true } as const;
const agents = { minimum: "namespaces", mayLower: false } as const;

describe("the isolation that a request demands", () => {
  it.each([own, agents])("is the deployment's when it names none, and its own when that is stronger", (floor) => {
    expect(decideMinIsolation(undefined, floor)).toBe("namespaces");
    expect(decideMinIsolation("namespaces", floor)).toBe("namespaces");
    expect(decideMinIsolation("vm", floor)).toBe("vm");
  });

  it("may be weaker where the request is the person's own", () => {
    expect(decideMinIsolation("preload", own)).toBe("preload");
  });

  it("is never weaker at the word of an agent, who is told who can accept that", () => {
    expect(() => decideMinIsolation("preload", agents)).toThrow(
      expect.objectContaining({
        errorType: "POLICY_DENIED",
        suggestion: expect.stringContaining("--min-isolation preload"),
      }),
    );
  });
});
