import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const load = createRequire(import.meta.url);
const { openReport, failureOf } = load("./report-writer.cjs");
const { readTestFiles } = load("./node-test-files.cjs");
const folder = process.env.GLOVEBOX_TEST_REPORTS;
// This must come before the first test file is loaded.
const report = openReport("node:test");

/** Node's reporter interface: events in, text out; this one writes no text. */
// oxlint-disable-next-line require-yield, import/no-default-export
export default async function* (events) {
  if (report === null) return;
  const names = [];
  const evidence = new Evidence();
  for await (const { type, data } of events) {
    evidence.take(type, data);
    if (type === "test:start") names[data.nesting] = data.name;
    if (type === "test:pass" || type === "test:fail") addTest(type, data, names.slice(0, data.nesting));
    if (type === "test:coverage") report.cover(data.summary?.totals?.coveredLinePercent);
  }
  for (const name of evidence.unfinished()) report.leave(name);
  report.save();
}

/** What shows that each file, and each of its tests, came to its end. */
class Evidence {
  /** Files that the runner started. */
  #files = new Set();
  /** How many tests of each file began, were completed (Node 18 does not say so), and were reported. */
  #tests = new Map();

  take(type, data) {
    const file = pathOf(data.file);
    if (file === null) return;
    if (isFileItself(data)) {
      if (type === "test:enqueue") this.#files.add(file);
      return;
    }
    const tests = this.#tests.get(file) ?? { begun: 0, completed: 0, reported: 0 };
    if (type === "test:enqueue") tests.begun++;
    else if (type === "test:complete") tests.completed++;
    else if (type === "test:pass" || type === "test:fail") tests.reported++;
    else return;
    this.#tests.set(file, tests);
  }

  unfinished() {
    const processes = readTestFiles(folder);
    // Without a process for each file, the end of any is the end of this one, and nothing is reported.
    const needed = [...this.#files].filter((file) => processes.size > 0 || this.#tests.has(file));
    const left = [
      ...[...processes].filter(([, open]) => open !== 0).map(([file]) => file),
      ...needed.filter((file) => !processes.has(file)),
      ...[...this.#tests]
        .filter(([, { begun, completed, reported }]) => begun > Math.max(completed, reported))
        .map(([file]) => file),
    ];
    return new Set(left.map((file) => path.relative(process.cwd(), file)));
  }
}

/** Whether an event is about a file as a whole, which Node reports as a test where it has no tests. */
function isFileItself({ name, nesting, file, line, column }) {
  if (nesting !== 0 || typeof name !== "string") return false;
  if (line !== undefined && (line !== 1 || column !== 1)) return false;
  const own = path.resolve(name);
  return own === (pathOf(file) ?? (existsSync(own) ? own : null));
}

/** Node 18 gives an address. */
function pathOf(file) {
  if (typeof file !== "string") return null;
  return file.startsWith("file:") ? fileURLToPath(file) : file;
}

function addTest(type, data, suite) {
  const { name, file, line, details, skip, todo } = data;
  const isSuite = details?.type === "suite";
  const failed = type === "test:fail" && (todo === undefined || todo === false) && !isSkipped(skip);
  // A suite is not a test; one that fails because of its own hook, not its tests, is an error.
  if (isSuite && !(failed && details.error?.failureType === "hookFailed")) return;
  // Nor is a file in which nothing ran; one that fails is.
  if (!failed && isFileItself(data)) return;
  const failure = failed ? failureOf(details.error, file) : {};
  report.add({
    name,
    suite,
    status: isSuite
      ? "error"
      : isSkipped(skip)
        ? "skipped"
        : todo !== undefined && todo !== false
          ? "todo"
          : failed
            ? "failed"
            : "passed",
    file,
    durationMs: details?.duration_ms,
    ...failure,
    line: failure.line ?? line,
  });
}

function isSkipped(skip) {
  return skip !== undefined && skip !== false;
}
