import type { StoredRunAnswer } from "../../operations/sandboxes-contract.ts";
import type { SandboxRow } from "../lists.ts";
import type { IconName } from "./icon.tsx";

/** How something is to be looked at. */
export type Tone = "good" | "bad" | "warn" | "info" | "quiet";

export interface Verdict {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: IconName;
}

const verdicts: Readonly<Record<string, Verdict>> = {
  completed: { word: "Completed", tone: "good", icon: "check" },
  passed: { word: "Passed", tone: "good", icon: "check" },
  failed: { word: "Failed", tone: "bad", icon: "cross" },
  timed_out: { word: "Timed out", tone: "warn", icon: "clock" },
  oom_killed: { word: "Out of memory", tone: "bad", icon: "warning" },
  cancelled: { word: "Cancelled", tone: "quiet", icon: "minus" },
  policy_denied: { word: "Denied by policy", tone: "warn", icon: "shield" },
  sandbox_lost: { word: "Sandbox lost", tone: "bad", icon: "warning" },
  nothing_ran: { word: "Nothing ran", tone: "warn", icon: "minus" },
  could_not_run: { word: "Could not run", tone: "bad", icon: "warning" },
};

/** How a run ended, in a word. */
export function verdictOf(outcome: string | null): Verdict {
  return verdicts[outcome ?? ""] ?? { word: outcome ?? "Ended", tone: "quiet", icon: "minus" };
}

/** The verdict of what the store has of a run. */
export function storedVerdict({ outcome, interrupted, error_type: errorType }: StoredRunAnswer): Verdict {
  if (outcome !== null) return verdictOf(outcome);
  if (interrupted) return { word: "Interrupted", tone: "warn", icon: "warning" };
  return errorType === null ? verdictOf(null) : { word: "Error", tone: "bad", icon: "warning" };
}

const kinds: Readonly<Record<string, string>> = {
  execute: "Program",
  execute_code: "Program",
  run_code: "Program in a session",
  run_command: "Command",
  create_environment: "New environment",
  run_tests: "Test run",
  test: "Test run",
  tests: "Test run",
  session: "Session",
  environment: "Environment",
  preview: "Preview",
  start_preview: "Preview",
  install: "Installation",
  agent: "Agent",
  run_agent: "Agent",
};

/** What an ended run was, by the kind of its sandbox, which may have had others. */
const storedKinds: Readonly<Record<string, string>> = { environment: "run_command", session: "run_code" };

/** What a row is, for people. */
export function titleOf({ operation, kind, stored }: Pick<SandboxRow, "operation" | "kind" | "stored">): string {
  const ofRun = stored === undefined ? undefined : storedKinds[kind ?? ""];
  const name = operation ?? ofRun ?? kind ?? "sandbox";
  return kinds[name] ?? name.replaceAll("_", " ");
}
