"use strict";
// Records what a test runner reports about its tests, and leaves it as one signed file at the end. The key comes from a
// seed that is replaced as soon as it is read, before any test runs: what a test starts can read only the next runner's
// seed.
const { createHmac } = require("node:crypto");
const { readFileSync, writeFileSync, renameSync } = require("node:fs");
const path = require("node:path");

const folder = process.env.GLOVEBOX_TEST_REPORTS;
const maxText = 16_384;
const maxMessage = 4_096;
const maxUnfinished = 100;
let opened = null;

/** The report of this process, always the same one; null outside a test run. */
function openReport(runner, version) {
  if (opened !== null || folder === undefined) return opened;
  let seed;
  try {
    seed = readFileSync(path.join(folder, "seed"), "utf8").trim();
    writeFileSync(path.join(folder, "seed"), derive(seed, "next"));
  } catch {
    return null;
  }
  const file = path.join(folder, derive(seed, "name").slice(0, 32));
  const report = { runner, version: version ?? null, tests: [], unfinished: [], coverage: null };
  writeFileSync(`${file}.started`, JSON.stringify({ runner }));
  const save = () => {
    const body = JSON.stringify(report);
    const signature = createHmac("sha256", derive(seed, "key")).update(body).digest("hex");
    writeFileSync(`${file}.part`, `${signature}\n${body}`);
    renameSync(`${file}.part`, file);
  };
  opened = {
    add: (test) => void report.tests.push(bounded(test)),
    // What began and did not report its end: nothing is proven by the rest.
    leave: (name) => void (report.unfinished.length < maxUnfinished && report.unfinished.push(textOf(name))),
    cover: (percent) => cover(report, percent),
    save,
  };
  return opened;
}

function derive(seed, purpose) {
  return createHmac("sha256", seed).update(purpose).digest("hex");
}

function cover(report, percent) {
  if (typeof percent === "number" && Number.isFinite(percent)) report.coverage = percent;
}

function textOf(name) {
  return String(name).slice(0, maxMessage);
}

function bounded(test) {
  return {
    name: textOf(test.name),
    suite: (test.suite ?? []).slice(0, 100).map((part) => String(part).slice(0, maxMessage)),
    status: test.status,
    file: typeof test.file === "string" ? test.file : null,
    line: Number.isSafeInteger(test.line) ? test.line : null,
    durationMs: Number.isFinite(test.durationMs) ? test.durationMs : null,
    message: test.message === undefined || test.message === null ? null : String(test.message).slice(0, maxMessage),
    details: test.details === undefined || test.details === null ? null : String(test.details).slice(0, maxText),
  };
}

/** What is known about a failure: its message, its stack with expected and actual values, and its line in the file. */
function failureOf(error, file) {
  const cause = error?.cause?.stack !== undefined && error?.code === "ERR_TEST_FAILURE" ? error.cause : error;
  const message = plain(String(cause?.message ?? cause ?? ""));
  const stack = plain(String(cause?.stack ?? ""));
  const values = ["expected", "actual"]
    .filter((name) => cause !== null && typeof cause === "object" && cause[name] !== undefined)
    .map((name) => `${name}: ${shown(cause[name])}`);
  const details = [stack.includes(message) ? stack : `${message}\n${stack}`, ...values].join("\n");
  return { message, details, line: lineIn(stack, file) };
}

function shown(value) {
  if (typeof value === "string") return value.slice(0, maxMessage);
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, maxMessage);
  } catch {
    return String(value).slice(0, maxMessage);
  }
}

/** The first line in this file that a stack names. */
function lineIn(stack, file) {
  if (typeof file !== "string") return null;
  for (const line of plain(stack).split("\n")) {
    const at = line.lastIndexOf(`${path.basename(file)}:`);
    const found = at < 0 ? null : /^:(\d{1,9})/.exec(line.slice(at + path.basename(file).length));
    if (found !== null) return Number(found[1]);
  }
  return null;
}

function plain(text) {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[0-9;]*m/g, "");
}

module.exports = { openReport, failureOf, lineIn, plain };
