import { expect, it } from "vitest";
import type { SandboxStateAnswer } from "../../operations/sandboxes-contract.ts";
import type { RunTestsResponse } from "../../operations/tests-contract.ts";
import type { Tab } from "../route.ts";
import { firstTab } from "./run-detail.tsx";

const program: readonly Tab[] = ["log", "metrics", "result"];
const testRun: readonly Tab[] = ["tests", ...program];
const ended = (result: object, more: object = {}): SandboxStateAnswer =>
  ({ state: "ended", result, ...more }) as unknown as SandboxStateAnswer;
const tests = (counts: object): RunTestsResponse =>
  ({ passed: 0, failed: 0, errors: 0, ...counts }) as unknown as RunTestsResponse;

it.each([
  ["failed", "result"],
  ["timed_out", "result"],
  ["oom_killed", "result"],
  ["policy_denied", "result"],
  ["completed", "log"],
  ["cancelled", "log"],
])("opens a program that ended as %s on its %s", (outcome, tab) => {
  expect(firstTab({ answer: ended({ outcome }), tests: null, offered: program })).toBe(tab);
});

it("opens on its result what the platform refused, or what the store says was cut short", () => {
  const refused = ended({}, { result: undefined, error: { error_type: "CAPACITY" } });
  expect(firstTab({ answer: refused, tests: null, offered: program })).toBe("result");
  const stored = ended({}, { result: undefined, stored: { outcome: null, interrupted: true, error_type: null } });
  expect(firstTab({ answer: stored, tests: null, offered: program })).toBe("result");
});

it("opens tests that ran on the tests, and a run without any on why", () => {
  const answer = ended({ verdict: "failed" });
  expect(firstTab({ answer, tests: tests({ failed: 1 }), offered: testRun })).toBe("tests");
  expect(firstTab({ answer, tests: null, offered: testRun })).toBe("tests");
  const none = ended({ verdict: "could_not_run" });
  expect(firstTab({ answer: none, tests: tests({ passed: null }), offered: testRun })).toBe("result");
});

it("opens what still runs, and what nobody knows, on the first that is offered", () => {
  const answer = { state: "running" } as SandboxStateAnswer;
  expect(firstTab({ answer, tests: null, offered: ["preview", "log", "metrics"] })).toBe("preview");
  expect(firstTab({ answer: null, tests: null, offered: ["log", "metrics"] })).toBe("log");
});
