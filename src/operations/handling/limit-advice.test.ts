import { describe, expect, it } from "vitest";
import { gibibyte } from "../../base/bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { LimitKind } from "../../policy/limits.ts";
import { withLimitAdvice } from "./limit-advice.ts";

const ceilings = { timeoutMs: 60_000, memoryBytes: gibibyte };
const advised = (error: GloveboxError, kind: LimitKind): string =>
  withLimitAdvice(error, { kind, ceilings }).suggestion;
const late = (seconds: number) => new GloveboxError("TIMEOUT", "late", { context: { timeout_seconds: seconds } });
const full = (limit: number) => new GloveboxError("OOM_KILLED", "full", { context: { limit_mb: limit } });

describe("what to do where a limit was too low", () => {
  it("names the field that the call takes, and how far it goes", () => {
    expect(advised(late(30), "execute")).toMatch(/, or raise timeout_seconds \(at most 60 s\)\.$/);
    expect(advised(full(512), "execute")).toMatch(/, or raise limits\.memory_mb \(at most 1024 MiB\)\.$/);
  });

  it.each([
    ["session", "begin another session"],
    ["environment", "create another environment"],
  ] as const)("is another place where a %s keeps its memory", (kind, words) => {
    expect(advised(full(512), kind)).toContain(`${words} with a higher limits.memory_mb (at most 1024 MiB)`);
  });

  it("is no higher limit where there is none", () => {
    for (const error of [late(60), full(1024)]) {
      expect(advised(error, "session")).toMatch(/the limit of (60 s|1024 MiB) is the highest here\.$/);
      expect(advised(error, "session")).not.toMatch(/timeout_seconds|memory_mb/);
    }
  });

  it("leaves other errors as they are", () => {
    const other = new GloveboxError("TIMEOUT", "The sandbox did not answer.", { suggestion: "End it." });
    expect(withLimitAdvice(other, { kind: "execute", ceilings })).toBe(other);
  });
});
