import type { Verdict } from "../../../src/workloads/tests/verdict.ts";

/** What is asked of every test runner. */
export const questions = {
  exit: "a test ends its process with 0",
  load: "a file ends it while it is loaded",
  empty: "nothing is collected",
  pattern: "a pattern matches nothing",
  worker: "a worker dies",
  nested: "a test runs the same runner, which fails",
  fork: "a child of a test goes on reporting",
  line: "a test prints without a line feed",
} as const;
export type Question = keyof typeof questions;

/** A small project that asks one question of one runner, and the answer. */
export interface RunnerQuestion {
  readonly runner: string;
  readonly question: Question;
  readonly files: Readonly<Record<string, string>>;
  readonly command: string;
  readonly verdict: Verdict;
  /** Tests that passed, as far as they are counted. */
  readonly passed: number | null;
}

/** A question without what all of its runner have. */
type Asked = Omit<RunnerQuestion, "runner" | "command"> & { readonly command?: string };

/** Questions of one runner, each with its command unless it has one of its own. */
export function ask(runner: string, command: string, asked: readonly Asked[]): readonly RunnerQuestion[] {
  return asked.map((each) => ({ command, ...each, runner }));
}
