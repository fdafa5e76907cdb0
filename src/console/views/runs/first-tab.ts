import type { SandboxStateAnswer } from "../../../operations/sandboxes/sandbox-state-schema.ts";
import type { RunTestsResponse } from "../../../operations/tests/run-tests-contract.ts";
import type { Tab } from "../../route.ts";
import { verdictOfAnswer } from "./verdict-of-answer.ts";

interface OpenedRun {
  /** Null: the server does not know it. */
  readonly answer: SandboxStateAnswer | null;
  readonly tests: RunTestsResponse | null;
  readonly offered: readonly Tab[];
}

/** The tab that a run opens on: what came of it where that was not well, else the first that is offered. */
export function firstTab({ answer, tests, offered }: OpenedRun): Tab {
  const [first = "log"] = offered;
  if (answer === null || !offered.includes("result")) return first;
  const { tone } = verdictOfAnswer(answer);
  const hasFailed = tone === "bad" || tone === "warn";
  // Tests that ran say more than the result does; without any, the reason is in it.
  const hasRunTests = tests === null || (tests.passed ?? 0) + (tests.failed ?? 0) + (tests.errors ?? 0) > 0;
  return hasFailed && !(first === "tests" && hasRunTests) ? "result" : first;
}
