"use strict";
// Node's test runner takes a file whose process ended with 0 for one that passed, wherever in the file it ended. So the
// process of each file says here that it began, and that it came to its end by itself; the runner's process reads both.
const { appendFileSync, readFileSync } = require("node:fs");
const path = require("node:path");

/** In the process of one test file, before anything of it is loaded. */
function noteTestFile(folder) {
  const { pid, ppid } = process;
  const name = process.argv[1] ?? "";
  const note = (word) => {
    try {
      appendFileSync(logIn(folder), `${word} ${ppid} ${pid} ${JSON.stringify(name)}\n`);
    } catch {
      // A file of which nothing is noted has not ended either.
    }
  };
  note("begin");
  let isDrained = false;
  process.once("beforeExit", () => (isDrained = true));
  process.once("exit", () => {
    const callers = readCallers();
    const isCalled = callers.some((line) => /\bprocess\.exit\b|\breallyExit\b/.test(line));
    const isForced =
      process.execArgv.includes("--test-force-exit") &&
      callers.every((line) => line.includes("node:")) &&
      callers.some((line) => line.includes("node:internal/test_runner"));
    if (isForced || (isDrained && !isCalled)) note("end");
  });
}

/** In the runner's process: the files that began, by whether each of their processes came to its end. */
function readTestFiles(folder) {
  let text = "";
  try {
    text = readFileSync(logIn(folder), "utf8");
  } catch {
    // No file had a process of its own.
  }
  const open = new Map();
  for (const line of text.split("\n")) {
    const [, word, parent, , name] = /^(begin|end) (\d+) (\d+) (".*")$/.exec(line) ?? [];
    if (name === undefined || Number(parent) !== process.pid) continue;
    const file = path.resolve(JSON.parse(name));
    open.set(file, (open.get(file) ?? 0) + (word === "begin" ? 1 : -1));
  }
  return open;
}

function logIn(folder) {
  return path.join(folder, "node-files");
}

/** The lines of the present stack, without those of this file. */
function readCallers() {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = Infinity;
  const stack = String(new Error("an exit").stack);
  Error.stackTraceLimit = stackTraceLimit;
  return stack.split("\n").filter((line) => /^ +at /.test(line) && !line.includes(__filename));
}

module.exports = { noteTestFile, readTestFiles };
