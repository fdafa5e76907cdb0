import { expect, it } from "vitest";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { exitCodeOf, exitCodeOfError } from "./exit-code.ts";

it.each([
  ["completed", 0, 0],
  ["failed", 7, 7],
  ["failed", 137, 137],
  ["timed_out", 143, 124],
  ["oom_killed", 1, 137],
  ["sandbox_lost", null, 125],
] as const)("%s with %s exits with %i", (outcome, code, expected) => {
  expect(exitCodeOf({ outcome, exit_code: code })).toBe(expected);
});

it("tells wrong usage from a failing platform", () => {
  expect(exitCodeOfError(new GloveboxError("INVALID_REQUEST", "x"))).toBe(2);
  expect(exitCodeOfError(new GloveboxError("ENGINE_UNAVAILABLE", "x"))).toBe(125);
});
