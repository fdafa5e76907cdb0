"use strict";
// Loaded into every Node process of a test run. In a test runner's own process it adds our reporter to the human one, and
// gives the processes that the runner starts their original variables.
const { realpathSync } = require("node:fs");
const { createRequire } = require("node:module");
const path = require("node:path");

const mains = [
  { runner: "jest", words: /[/\\]jest(-cli)?[/\\]bin[/\\]jest\.js$/, attach: attachJest },
  { runner: "vitest", words: /[/\\]vitest[/\\](vitest\.mjs|dist[/\\]cli\.js)$/, attach: attachVitest },
  {
    runner: "mocha",
    words: /[/\\]mocha[/\\](bin[/\\]_?mocha(\.c?js)?|lib[/\\]cli[/\\]cli\.c?js)$/,
    attach: attachMocha,
  },
];

attach();

function attach() {
  const { isMainThread } = require("node:worker_threads");
  if (!isMainThread || process.env.GLOVEBOX_TEST_REPORTS === undefined) return;
  if (process.env.NODE_TEST_CONTEXT !== undefined) {
    require("./node-test-files.cjs").noteTestFile(process.env.GLOVEBOX_TEST_REPORTS);
    return restore();
  }
  const main = realMain();
  const known = mains.find(({ words }) => words.test(main));
  if (known === undefined) return;
  const { openReport } = require("./report-writer.cjs");
  if (openReport(known.runner) === null) return;
  known.attach(main);
  restore();
}

function realMain() {
  try {
    return realpathSync(process.argv[1] ?? "");
  } catch {
    return "";
  }
}

/** Options of a runner come before `--`, which ends them. */
function addArguments(added) {
  const end = process.argv.indexOf("--");
  process.argv.splice(end < 0 ? process.argv.length : end, 0, ...added);
}

function has(option) {
  return process.argv.some((argument) => argument === option || argument.startsWith(`${option}=`));
}

/** A pattern for the full names of the tests to run; null: all. */
function wantedTests() {
  const { GLOVEBOX_TEST_ONLY: only } = process.env;
  return only === undefined ? null : JSON.parse(only).pattern;
}

function addPattern(option) {
  const pattern = wantedTests();
  if (pattern !== null) addArguments([`${option}=${pattern}`]);
}

function attachJest() {
  addPattern("--testNamePattern");
  const ours = `--reporters=${path.join(__dirname, "jest-reporter.cjs")}`;
  addArguments(has("--reporters") ? [ours] : ["--reporters=default", ours]);
}

function attachVitest() {
  addPattern("--testNamePattern");
  const ours = `--reporter=${path.join(__dirname, "vitest-reporter.mjs")}`;
  addArguments(has("--reporter") ? [ours] : ["--reporter=default", ours]);
}

/** Mocha has only one reporter, so ours listens to the runner itself. */
function attachMocha(main) {
  addPattern("--grep");
  const { listenToMocha } = require("./mocha-listener.cjs");
  const found = createRequire(main);
  for (const name of [
    "../lib/runner",
    "../lib/nodejs/parallel-buffered-runner",
    "../runner",
    "../nodejs/parallel-buffered-runner",
  ]) {
    for (const ending of [".js", ".cjs", ".mjs"]) {
      try {
        const loaded = found(`${name}${ending}`);
        listenToMocha(loaded.Runner ?? loaded.default ?? loaded);
        break;
      } catch (error) {
        if (error?.code !== "MODULE_NOT_FOUND") throw error;
      }
    }
  }
}

/** What a test starts is not part of this run: our part of each variable goes, and what else is in it stays. */
function restore() {
  delete process.env.GLOVEBOX_TEST_ONLY;
  for (const name of ["NODE_OPTIONS", "BUN_OPTIONS"]) {
    const ours = process.env[`GLOVEBOX_${name}`];
    delete process.env[`GLOVEBOX_${name}`];
    if (ours !== undefined) put(name, process.env[name]?.replace(ours, () => "").trim());
  }
  const python = path.join(__dirname, "python");
  put(
    "PYTHONPATH",
    process.env.PYTHONPATH?.split(":")
      .filter((folder) => folder !== python)
      .join(":"),
  );
}

function put(name, value) {
  if (value === undefined || value === "") delete process.env[name];
  else process.env[name] = value;
}
