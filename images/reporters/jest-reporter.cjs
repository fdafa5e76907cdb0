"use strict";
const { openReport, lineIn, plain } = require("./report-writer.cjs");

const statuses = {
  passed: "passed",
  failed: "failed",
  pending: "skipped",
  skipped: "skipped",
  disabled: "skipped",
  todo: "todo",
};

/** Jest's reporter interface. */
module.exports = class {
  onRunComplete(_contexts, results) {
    const report = openReport("jest");
    if (report === null) return;
    for (const suite of results.testResults) {
      const file = suite.testFilePath;
      for (const test of suite.testResults) report.add(testOf(test, file));
      if (suite.testExecError === undefined || suite.testExecError === null) continue;
      const message = plain(suite.failureMessage ?? suite.testExecError.message ?? "");
      report.add({ name: file, status: "error", file, line: lineIn(message, file), message, details: message });
    }
    const left = results.numTotalTestSuites - results.testResults.length;
    if (left > 0) report.leave(`${left} of ${results.numTotalTestSuites} test files`);
    if (results.wasInterrupted === true) report.leave("jest: the run was stopped");
    if (results.runExecError !== undefined) {
      const { message } = results.runExecError;
      report.add({ name: "jest", status: "error", message, details: message });
    }
    report.save();
    // Jest's own coverage reporter runs after ours.
    process.on("exit", () => {
      report.cover(results.coverageMap?.getCoverageSummary?.().lines.pct);
      report.save();
    });
  }
};

function testOf({ title, ancestorTitles, status, duration, failureMessages }, file) {
  const failure = plain(failureMessages.join("\n"));
  return {
    name: title,
    suite: ancestorTitles,
    status: statuses[status] ?? "other",
    file,
    durationMs: duration,
    ...(failure === ""
      ? {}
      : { message: failure.split(/\n[ \t]+at /)[0].trimEnd(), details: failure, line: lineIn(failure, file) }),
  };
}
