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

/** Tests of one report; a test suite of 63,740 exists. */
const maxTests = 500_000;
/** Names of what did not come to its end: a reader needs a few. */
const maxUnfinished = 100;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The report that our reporters write, from text of a sandbox: untrusted. Files below `folder` are named relative to it.
 * @throws SyntaxError, RangeError for anything else than such a report
 */
export function parseReport(text: string, folder: string): TestReport {
  const { runner, tests, unfinished, coverage } = fieldsOf(JSON.parse(text));
  if (typeof runner !== "string" || !Array.isArray(tests) || !Array.isArray(unfinished)) {
    throw new RangeError("no report");
  }
  if (tests.length > maxTests) throw new RangeError(`more than ${maxTests} tests`);
  return {
    runner,
    tests: tests.map((test) => entryOf(test, folder)),
    unfinished: unfinished.slice(0, maxUnfinished).map((name) => relativeTo(folder, String(name))),
    coverage: percentOf(coverage),
  };
}

/** A path below a folder relative to that, any other as it stands. */
export function relativeTo(folder: string, file: string): string {
  const plain = file.replace(/^file:\/\//, "");
  return plain.startsWith(`${folder}/`) ? plain.slice(folder.length + 1) : plain;
}

function entryOf(value: unknown, folder: string): TestEntry {
  const { name, suite, status, file, line, durationMs, message, details } = fieldsOf(value);
  if (typeof name !== "string" || !isStatus(status)) throw new RangeError("no test");
  return {
    name: name.startsWith(`${folder}/`) ? name.slice(folder.length + 1) : name,
    suite: Array.isArray(suite) ? suite.filter((part) => typeof part === "string") : [],
    status,
    file: typeof file === "string" ? relativeTo(folder, file) : null,
    line: typeof line === "number" && Number.isSafeInteger(line) && line >= 0 ? line : null,
    durationMs: typeof durationMs === "number" && durationMs >= 0 ? durationMs : null,
    message: typeof message === "string" ? message : null,
    details: typeof details === "string" ? details : null,
  };
}

function percentOf(value: unknown): number | null {
  return typeof value === "number" && value >= 0 && value <= 100 ? Math.round(value * 100) / 100 : null;
}

function isStatus(value: unknown): value is TestStatus {
  return testStatuses.some((status) => status === value);
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
