import { ask, type RunnerQuestion } from "./question.ts";

const node = (body: string): Record<string, string> => ({
  "a.test.mjs": `import { test } from "node:test";\nimport { execFileSync, fork, spawnSync } from "node:child_process";\n${body}\n`,
  "b.test.mjs": 'import { test } from "node:test";\ntest("other", () => undefined);\n',
});
const jestLike = (first: string, body: string): Record<string, string> => ({
  "a.test.js": `${first}test("first", () => undefined);\n${body}\n`,
  "b.test.js": `${first}test("other", () => undefined);\n`,
});
const jest = (body: string): Record<string, string> => ({ ...jestLike("", body), ...jestConfig });
const jestConfig = { "jest.config.js": "module.exports = {};\n" };
const vitest = (body: string): Record<string, string> => jestLike('import { test } from "vitest";\n', body);
const mocha = (body: string): Record<string, string> => ({
  "test/a.js": `it("first", () => undefined);\n${body}\n`,
  "test/b.js": 'it("other", () => undefined);\n',
});
const bun = (body: string): Record<string, string> => ({
  ...jestLike('import { test } from "bun:test";\n', body),
  "bunfig.toml": "",
});
export const javascriptQuestions: readonly RunnerQuestion[] = [
  ...ask("node:test", "node --test", [
    { question: "exit", files: node('test("ends", () => process.exit(0));'), verdict: "could_not_run", passed: 1 },
    {
      question: "exit",
      files: node(
        'setTimeout(process.exit, 50, 0);\ntest("waits", () => new Promise((end) => setTimeout(end, 5000)));',
      ),
      verdict: "could_not_run",
      passed: 1,
    },
    { question: "load", files: node("process.exit(0);"), verdict: "could_not_run", passed: 1 },
    {
      question: "empty",
      files: { "helper.mjs": "" },
      command: "node --test helper.mjs",
      verdict: "nothing_ran",
      passed: 0,
    },
    {
      question: "pattern",
      files: node(""),
      command: "node --test --test-name-pattern=nothing",
      verdict: "nothing_ran",
      passed: 0,
    },
    {
      question: "worker",
      files: node('test("dies", () => process.kill(process.pid, "SIGKILL"));'),
      verdict: "failed",
      passed: 1,
    },
    {
      question: "nested",
      files: {
        ...node(
          'test("runs", () => { delete process.env.NODE_TEST_CONTEXT; if (spawnSync("node", ["--test", "inner.mjs"]).status !== 1) throw 1; });',
        ),
        "inner.mjs": 'import { test } from "node:test";\ntest("inner", () => { throw new Error("inner"); });\n',
      },
      command: "node --test a.test.mjs",
      verdict: "passed",
      passed: 1,
    },
    {
      question: "fork",
      files: {
        ...node('test("forks", (_, done) => { fork("./child.mjs").on("exit", () => done()); });'),
        "child.mjs": 'import { test } from "node:test";\ntest("of a child", () => process.exit(0));\n',
      },
      verdict: "passed",
      passed: 2,
    },
    { question: "line", files: node('test("prints", () => process.stdout.write("x"));'), verdict: "passed", passed: 2 },
  ]),
  ...ask("jest", "jest", [
    { question: "exit", files: jest('test("ends", () => process.exit(0));'), verdict: "could_not_run", passed: null },
    { question: "load", files: jest("process.exit(0);"), verdict: "could_not_run", passed: null },
    { question: "empty", files: jestConfig, command: "jest --passWithNoTests", verdict: "nothing_ran", passed: 0 },
    { question: "pattern", files: jest(""), command: "jest -t nothing", verdict: "nothing_ran", passed: 0 },
    {
      question: "worker",
      files: jest('test("dies", () => process.kill(process.pid, "SIGKILL"));'),
      command: "jest --maxWorkers=2",
      verdict: "failed",
      passed: 1,
    },
    {
      question: "nested",
      files: {
        ...jest(
          'test("runs", () => expect(require("child_process").spawnSync("jest", ["inner/c.test.js"]).status).toBe(1), 20_000);',
        ),
        "inner/c.test.js": 'test("inner", () => { throw new Error("inner"); });\n',
      },
      command: "jest --testPathIgnorePatterns inner --",
      verdict: "passed",
      passed: 3,
    },
    {
      question: "fork",
      files: {
        ...jest('test("forks", (done) => { require("child_process").fork("./child.js").on("exit", () => done()); });'),
        "child.js": "process.exit(0);\n",
      },
      verdict: "passed",
      passed: 3,
    },
    {
      question: "line",
      files: jest('test("prints", () => { process.stdout.write("x"); });'),
      verdict: "passed",
      passed: 3,
    },
  ]),
  ...ask("vitest", "vitest run", [
    { question: "exit", files: vitest('test("ends", () => process.exit(0));'), verdict: "failed", passed: 2 },
    {
      question: "load",
      files: vitest("process.reallyExit(0);"),
      verdict: "failed",
      passed: 1,
    },
    { question: "empty", files: {}, command: "vitest run --passWithNoTests", verdict: "nothing_ran", passed: 0 },
    { question: "pattern", files: vitest(""), command: "vitest run -t nothing", verdict: "nothing_ran", passed: 0 },
    {
      question: "worker",
      files: vitest('test("dies", () => process.kill(process.pid, "SIGKILL"));'),
      command: "vitest run --pool=forks",
      verdict: "failed",
      passed: 1,
    },
    {
      question: "nested",
      files: {
        ...vitest(
          'import { spawnSync } from "node:child_process";\ntest("runs", () => { if (spawnSync("vitest", ["run", "--dir", "inner"]).status !== 1) throw 1; }, 20_000);',
        ),
        "inner/c.test.js": 'import { test } from "vitest";\ntest("inner", () => { throw new Error("inner"); });\n',
      },
      command: "vitest run --exclude 'inner/**'",
      verdict: "passed",
      passed: 3,
    },
    {
      question: "fork",
      files: {
        ...vitest(
          'import { fork } from "node:child_process";\ntest("forks", () => new Promise((end) => { fork("./child.js").on("exit", end); }));',
        ),
        "child.js": "process.exit(0);\n",
      },
      verdict: "passed",
      passed: 3,
    },
    {
      question: "line",
      files: vitest('test("prints", () => { process.stdout.write("x"); });'),
      verdict: "passed",
      passed: 3,
    },
  ]),
  ...ask("mocha", "mocha", [
    { question: "exit", files: mocha('it("ends", () => process.exit(0));'), verdict: "could_not_run", passed: null },
    { question: "load", files: mocha("process.exit(0);"), verdict: "could_not_run", passed: null },
    { question: "empty", files: { "test/a.js": "" }, verdict: "nothing_ran", passed: 0 },
    { question: "empty", files: mocha(""), command: "mocha --dry-run", verdict: "could_not_run", passed: 2 },
    { question: "pattern", files: mocha(""), command: "mocha -g nothing", verdict: "nothing_ran", passed: 0 },
    {
      question: "worker",
      files: mocha('it("dies", () => process.exit(0));'),
      command: "mocha --parallel --jobs 2",
      verdict: "failed",
      passed: 1,
    },
    {
      question: "nested",
      files: {
        ...mocha(
          'it("runs", () => { if (require("child_process").spawnSync("mocha", ["inner.js"]).status === 0) throw new Error(); }).timeout(20000);',
        ),
        "inner.js": 'it("inner", () => { throw new Error("inner"); });\n',
      },
      verdict: "passed",
      passed: 3,
    },
    {
      question: "fork",
      files: {
        ...mocha('it("forks", (done) => { require("child_process").fork("./child.js").on("exit", () => done()); });'),
        "child.js": "process.exit(0);\n",
      },
      verdict: "passed",
      passed: 3,
    },
    {
      question: "line",
      files: mocha('it("prints", () => { process.stdout.write("x"); });'),
      verdict: "passed",
      passed: 3,
    },
  ]),
  ...ask("bun", "bun test", [
    { question: "exit", files: bun('test("ends", () => process.exit(0));'), verdict: "could_not_run", passed: null },
    { question: "load", files: bun("process.exit(0);"), verdict: "could_not_run", passed: null },
    { question: "pattern", files: bun(""), command: "bun test -t nothing", verdict: "could_not_run", passed: null },
    {
      question: "line",
      files: bun('test("prints", () => { process.stdout.write("x"); });'),
      verdict: "passed",
      passed: 3,
    },
  ]),
];
