import { createRequire } from "node:module";

const { openReport, failureOf } = createRequire(import.meta.url)("./report-writer.cjs");
// This must come before the first test file is loaded.
const report = openReport("node:test");

/** Node's reporter interface: events in, text out; this one writes no text. */
// oxlint-disable-next-line require-yield, import/no-default-export
export default async function* (events) {
  if (report === null) return;
  const names = [];
  for await (const { type, data } of events) {
    if (type === "test:start") names[data.nesting] = data.name;
    if (type === "test:pass" || type === "test:fail") addTest(type, data, names.slice(0, data.nesting));
    if (type === "test:coverage") report.cover(data.summary?.totals?.coveredLinePercent);
  }
  report.save();
}

function addTest(type, data, suite) {
  const { name, file, line, details, skip, todo } = data;
  const isSuite = details?.type === "suite";
  const failed = type === "test:fail" && (todo === undefined || todo === false) && !isSkipped(skip);
  // A suite is not a test; one that fails because of its own hook, not its tests, is an error.
  if (isSuite && !(failed && details.error?.failureType === "hookFailed")) return;
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
