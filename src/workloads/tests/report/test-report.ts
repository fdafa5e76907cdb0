/** How one test ended. `error`: it could not be tried (its file, or its set-up); `other`: neither good nor bad, as pytest's xfail. */
export const testStatuses = ["passed", "failed", "skipped", "todo", "other", "error"] as const;
export type TestStatus = (typeof testStatuses)[number];

/** One test as its runner names it; or, as an `error`, what kept tests from being tried. */
export interface TestEntry {
  readonly name: string;
  /** Titles of the groups that it belongs to, the outermost first. */
  readonly suite: readonly string[];
  readonly status: TestStatus;
  /** As the runner gives it, below the project's folder relative to that. */
  readonly file: string | null;
  readonly line: number | null;
  readonly durationMs: number | null;
  /** Of a failure, else null. */
  readonly message: string | null;
  /** The same with what was expected and what came, and the stack. */
  readonly details: string | null;
}

/** What one start of a test runner reports. */
export interface TestReport {
  readonly runner: string;
  readonly tests: readonly TestEntry[];
  /** Names of files, processes or tests that began and did not report their end, the first 100. */
  readonly unfinished: readonly string[];
  /** Percent of lines, null if it was not measured. */
  readonly coverage: number | null;
}

export type TestCounts = Readonly<Record<TestStatus, number>>;

/** How many tests ended in which way. */
export function countTests(tests: readonly TestEntry[]): TestCounts {
  const counts = { passed: 0, failed: 0, skipped: 0, todo: 0, other: 0, error: 0 };
  for (const { status } of tests) counts[status] += 1;
  return counts;
}

/** The test's name with the names of its groups. */
export function fullName({ suite, name }: Pick<TestEntry, "suite" | "name">): string {
  return [...suite, name].join(" > ");
}

/** The name of a failure whose own name an earlier one has. */
export function numbered(name: string, time: number): string {
  return `${name} #${time}`;
}

/** A name as it may stand in an answer, and as its runner has it. */
export function namesBehind(name: string): readonly string[] {
  const end = /^(.+) #[1-9]\d{0,5}$/s.exec(name)?.[1];
  return end === undefined ? [name] : [name, end];
}
