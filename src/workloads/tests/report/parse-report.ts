import { testStatuses, type TestEntry, type TestReport, type TestStatus } from "./test-report.ts";

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

/** A path below a folder relative to that, any other as it stands. */
export function relativeTo(folder: string, file: string): string {
  const plain = file.replace(/^file:\/\//, "");
  return plain.startsWith(`${folder}/`) ? plain.slice(folder.length + 1) : plain;
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
