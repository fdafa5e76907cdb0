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
      this.on("end", () => report.save());
    }
    return run.apply(this, given);
  };
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
