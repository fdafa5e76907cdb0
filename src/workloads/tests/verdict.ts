import type { testVerdicts } from "../../operations/contract/wire-values.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import type { ReportedRun } from "./report/summarise-reports.ts";

/** The verdict of a test run (SPEC TE3). */
export type Verdict = (typeof testVerdicts)[number];

/** What is known of the reports of a run: `missing` of a runner that started and left none, `none` where no runner did. */
export type ReportState = "read" | "missing" | "unreadable" | "none";

/** Names in a reason, and characters of each. */
const maxShown = 3;
const maxNameCharacters = 200;

export interface EndedTests {
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  /** Whether nothing of the program was alive when the reports were read. */
  readonly isGone: boolean;
  readonly state: ReportState;
  /** What those that were read count, one for each start of a runner. */
  readonly runs: readonly ReportedRun[];
  /** A runner that the command names and that told of no test; null: it names none that is known. */
  readonly named: string | null;
}

export interface Judgement {
  readonly verdict: Verdict;
  /** One sentence, or two. */
  readonly reason: string;
}

/** Passed only if reports show it, all that began came to its end, and the exit code confirms it. */
export function judgeTests(tests: EndedTests): Judgement {
  const { outcome, exitCode, isGone, state } = tests;
  if (outcome === "timed_out") return { verdict: "timed_out", reason: "The time ran out before the tests had ended." };
  if (outcome === "oom_killed") return { verdict: "oom_killed", reason: "The tests ran out of memory." };
  if (outcome === "cancelled") return couldNotRun("The run was cancelled.");
  if (outcome === "sandbox_lost" || exitCode === null)
    return couldNotRun("The sandbox went away while the tests ran, or before their report was read.");
  if (!isGone)
    return couldNotRun("Something that the tests started may be alive still, so their report does not count.");
  if (state === "unreadable")
    return couldNotRun("The report is not what its runner wrote, or too large, or reading it took too long.");
  if (state === "read") return judgeReports(tests.runs, exitCode);
  if (exitCode === 126 || exitCode === 127)
    return couldNotRun("The command was not found in the sandbox, or cannot be run.");
  const why = state === "missing" ? "The test runner left no report" : unreported(tests.named);
  if (exitCode === 0) return couldNotRun(`${why}, so the exit code 0 proves nothing.`);
  return { verdict: "failed", reason: `${why}, and the command ended with exit code ${exitCode}.` };
}

function judgeReports(runs: EndedTests["runs"], exitCode: number): Judgement {
  const bad = runs.reduce((sum, { counts }) => sum + counts.failed + counts.error, 0);
  if (bad > 0) {
    const says = `${bad} ${bad === 1 ? "test" : "tests"} failed or could not be tried`;
    const despite = exitCode === 0 ? ", although the command ended with exit code 0" : "";
    return { verdict: "failed", reason: `${says}${despite}.` };
  }
  const unfinished = runs.flatMap((run) => run.unfinished);
  if (unfinished.length > 0) {
    const what = `${shown(unfinished)} began and did not report the end, as happens when a program ends its own process`;
    if (exitCode === 0) return couldNotRun(`${what}; the rest proves nothing.`);
    return { verdict: "failed", reason: `${what}, and the command ended with exit code ${exitCode}.` };
  }
  const idle = runs.find(({ counts }) => counts.passed + counts.other === 0);
  if (idle !== undefined) {
    return { verdict: "nothing_ran", reason: `${idle.runner} ran no test${skippedNote(idle.counts.skipped)}.` };
  }
  if (exitCode === 0) return { verdict: "passed", reason: "All tests that ran passed." };
  return { verdict: "failed", reason: `No test failed, but the command ended with exit code ${exitCode}.` };
}

function skippedNote(skipped: number): string {
  return skipped === 0 ? "" : ` (${skipped} skipped)`;
}

function unreported(named: string | null): string {
  if (named === null) return "No test runner that Glovebox knows told of its tests";
  return `${named} told of no tests (as with \`env -i\`, \`python -I\` or another virtual environment, which shut its reporter out)`;
}

/** The first names, and how many there are besides. */
function shown(names: readonly string[]): string {
  const first = names.slice(0, maxShown).map((name) => name.slice(0, maxNameCharacters));
  const more = names.length - first.length;
  return `${first.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function couldNotRun(reason: string): Judgement {
  return { verdict: "could_not_run", reason };
}

/** An error's message as a reason: without the output of a program that may follow. */
export function firstLine(message: string): string {
  return message.split("\n", 1).join("");
}
