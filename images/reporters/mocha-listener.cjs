"use strict";
const { openReport, failureOf } = require("./report-writer.cjs");

/** Makes every run of this kind of runner record its tests; the reporter that the project chose stays. */
function listenToMocha(Runner) {
  const { run } = Runner.prototype;
  Runner.prototype.run = function (...given) {
    const report = openReport("mocha");
    if (report !== null && this.gloveboxListens !== true) {
      this.gloveboxListens = true;
      this.on("pass", (test) => report.add(testOf(test, "passed")));
      this.on("pending", (test) => report.add(testOf(test, "skipped")));
      this.on("fail", (test, error) => report.add({ ...testOf(test, "failed"), ...failureOf(error, test.file) }));
      this.on("end", () => {
        if (isDryRun(this)) report.leave("mocha --dry-run: no test was run");
        if (this._abort === true) report.leave("mocha: the run was stopped");
        report.save();
      });
    }
    return run.apply(this, given);
  };
}

/** Without running any, mocha says of each test that it passed. */
function isDryRun({ _opts: options }) {
  return options?.dryRun === true;
}

function testOf(test, status) {
  const titles = typeof test.titlePath === "function" ? test.titlePath() : [test.title];
  return {
    name: titles.at(-1) ?? test.title,
    suite: titles.slice(0, -1),
    status,
    file: test.file,
    durationMs: test.duration,
  };
}

module.exports = { listenToMocha };
