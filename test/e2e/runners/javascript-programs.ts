import type { Program } from "./program.ts";

/** Programs for Node and Bun that would notice if the interpreter did not run their main file itself. */
export const javascriptPrograms: Readonly<Record<string, Program>> = {
  "prints its arguments": {
    code: `console.log(process.argv.slice(1), process.execArgv, process.argv0);`,
    arguments: ["a b", "--flag", "", "ünïcode", "'\"\\\n"],
  },
  "is CommonJS": {
    code: `console.log(require.main === module, module.id, module.parent, module.children.length, __filename, __dirname, this === module.exports);
console.log(Object.keys(require.cache).length, typeof exports);`,
  },
  "is a module": {
    code: `import fs from "node:fs";
import { value } from "./lib/helper.mjs";
console.log(import.meta.main, import.meta.url, import.meta.filename, import.meta.dirname, this, value, typeof fs.readFileSync);
console.log(await Promise.resolve(4));
export {};`,
    files: { "lib/helper.mjs": "export const value = 3;" },
  },
  "is a module by its package": {
    code: `console.log(typeof require, typeof this);\nconst { x } = await import("#inner");\nconsole.log(x);`,
    files: {
      "package.json": `{"type":"module","imports":{"#inner":"./inner.js"}}`,
      "inner.js": "export const x = typeof require;",
    },
  },
  "waits at the top level": { code: `const x = await Promise.resolve(5);\nconsole.log(x);` },
  "requires its files": {
    code: `const data = require("./data.json");\nconst { f } = require("./lib");\nconsole.log(data, f(), module.children.map((m) => m.id));`,
    files: {
      "data.json": `{"a":[1]}`,
      "lib/index.js": `exports.f = () => require("../other").x;`,
      "other.js": "exports.x = 'o';",
    },
  },
  "orders its ticks": {
    code: `setTimeout(() => console.log("timeout"));
setImmediate(() => console.log("immediate"));
Promise.resolve().then(() => console.log("microtask"));
queueMicrotask(() => console.log("queued"));
process.nextTick(() => console.log("tick"));
console.log("sync");`,
  },
  "orders its ticks in a module": {
    code: `import "node:fs";
Promise.resolve().then(() => console.log("microtask"));
process.nextTick(() => console.log("tick"));
console.log("sync");`,
  },
  throws: { code: `function f() {\n  throw new TypeError("bad");\n}\nconsole.log("x");\nf();` },
  "throws in a module": { code: `import "node:fs";\nfunction f() {\n  throw new TypeError("bad");\n}\nf();` },
  "throws no error": { code: `throw { a: 1 };` },
  "throws with a cause": { code: `throw new Error("outer", { cause: new Error("inner") });` },
  "throws later": { code: `setTimeout(() => {\n  throw new Error("late");\n}, 5);` },
  rejects: { code: `Promise.reject(new Error("nobody waits"));\nsetTimeout(() => console.log("never"), 50);` },
  "rejects with no error": { code: `Promise.reject(7);` },
  "handles what is not caught": {
    code: `process.on("uncaughtException", (error, origin) => console.log(error.message, origin));
process.on("exit", (code) => console.log("exit", code));
process.on("beforeExit", () => console.log("before"));
setTimeout(() => { process.exitCode = 6; }, 5);
throw new Error("caught after all");`,
  },
  "exits with a number": { code: `console.log("x");\nprocess.exit(7);` },
  "exits with a flood in flight": {
    code: `console.error("y".repeat(100_000));\nprocess.stdout.write("x".repeat(3_000_000), () => process.exit(3));`,
  },
  "floods and ends": {
    code: `for (let i = 0; i < 30_000; i += 1) console.log(i, "z".repeat(60));\nprocess.exitCode = 4;`,
  },
  "is terminated": { code: `console.log("x");\nprocess.kill(process.pid, "SIGTERM");\nsetTimeout(() => {}, 5000);` },
  "is killed": { code: `process.kill(process.pid, "SIGKILL");\nsetTimeout(() => {}, 5000);` },
  "handles a signal": {
    code: `process.on("SIGTERM", (name) => { console.log("got", name); process.exit(5); });\nsetTimeout(() => {}, 5000);\nsetTimeout(() => process.kill(process.pid, "SIGTERM"), 5);`,
  },
  aborts: { code: `process.reallyExit(11);` },
  "looks at its world": {
    code: `const fs = require("node:fs");
console.log(JSON.stringify(Object.entries(process.env).toSorted()), process.cwd(), process.umask(0o22), process.execPath, process.title, process.version);
console.log(fs.readdirSync("."), process.argv.length, process.listenerCount("exit"), process.eventNames());
console.log(Object.keys(globalThis).toSorted().join());
console.log(fs.readdirSync("/proc/self/fd").filter((fd) => Number(fd) < 3));
console.log(Error.prepareStackTrace, Error.stackTraceLimit, process.env.NODE_OPTIONS);`,
  },
  "shows its stack": {
    code: `function f() {\n  return new Error("here").stack;\n}\nconsole.log(f());`,
  },
  "reads all of its input": {
    code: `const text = require("node:fs").readFileSync(0, "utf8");\nconsole.log(JSON.stringify(text));`,
    stdin: "a\r\nü€\0rest",
  },
  "reads its input as a stream": {
    code: `let n = 0;\nprocess.stdin.on("data", (d) => (n += d.length)).on("end", () => console.log("end", n));`,
    stdin: "abcdef".repeat(50_000),
  },
  "reads its input by lines": {
    code: `require("node:readline").createInterface({ input: process.stdin }).on("line", (l) => console.log("line", l)).on("close", () => console.log("close"));`,
    stdin: "one\ntwo\nlast",
  },
  "reads an empty input": {
    code: `process.stdin.on("data", () => console.log("data")).on("end", () => console.log("end"));`,
  },
  "reads no input": { code: `console.log("x");`, stdin: "y".repeat(300_000) },
  "starts a worker from a file": {
    code: `const { Worker } = require("node:worker_threads");
new Worker("./worker.js", { workerData: 4, argv: ["w"] }).on("message", (m) => console.log("from worker", m)).on("exit", (c) => console.log("exit", c));`,
    files: {
      "worker.js": `const { parentPort, workerData } = require("node:worker_threads");\nparentPort.postMessage([workerData, process.argv.slice(2), process.execArgv]);`,
    },
  },
  "starts a worker from itself": {
    code: `import { Worker, isMainThread, parentPort } from "node:worker_threads";
if (isMainThread) new Worker(new URL(import.meta.url)).on("message", (m) => console.log(m));
else parentPort.postMessage(["in worker", import.meta.url]);`,
  },
  "fails in a worker": {
    code: `const { Worker } = require("node:worker_threads");\nnew Worker("throw new Error('w')", { eval: true }).on("error", (e) => console.log("error", e.message)).on("exit", (c) => console.log("exit", c));`,
  },
  "forks a child": {
    code: `const { fork } = require("node:child_process");
const child = fork("./child.js", ["c"]);
child.on("message", (m) => { console.log(m); child.send("bye"); });
child.on("exit", (code) => console.log("child", code));`,
    files: {
      "child.js": `process.send([process.argv.slice(2), process.execArgv, Object.keys(process.env).sort().join()]);\nprocess.on("message", () => process.exit(4));`,
    },
  },
  "starts itself": {
    code: `const { spawnSync } = require("node:child_process");
if (process.argv[2] !== "child") process.exit(spawnSync(process.execPath, [__filename, "child"], { stdio: "inherit" }).status);
console.log("child", process.argv.length, Object.keys(process.env).sort().join());
process.exit(3);`,
  },
  "lacks a package": { code: `const x = require("not-there-at-all");` },
  "lacks a package in a module": { code: `import x from "not-there-at-all";` },
  "lacks a file": { code: `import x from "./nowhere.js";` },
  "has a syntax error": { code: `console.log("never");\nconst a = ;\n` },
  "has a syntax error in a module": { code: `import "node:fs";\nlet x = 1;\nlet x = 2;\n` },
  "ends too early": { code: `function f() {\n  return 1;\n` },
  "has a file with a syntax error": {
    code: `require("./helper");`,
    files: { "helper.js": "let a = 1;\nlet = = 2;\n" },
  },
  "imports a file with a syntax error": {
    code: `import "./helper.mjs";`,
    files: { "helper.mjs": "let a = 1;\nawait = 2;\n" },
  },
  "parses bad JSON": { code: `JSON.parse("{bad");` },
  "requires bad JSON": { code: `require("./data.json");`, files: { "data.json": `{"a":\n bad}` } },
  "evaluates bad code": { code: `eval("let = = 1");` },
  "makes a bad function": { code: `new Function("return (")();` },
  "throws a syntax error": { code: `throw new SyntaxError("mine");` },
  "makes a bad expression": { code: `new RegExp("(");` },
  "imports a name that is not there": {
    code: `import { nope } from "./helper.mjs";`,
    files: { "helper.mjs": "export const a = 1;" },
  },
  "imports a name from CommonJS": {
    code: `import { nope } from "./helper.cjs";`,
    files: { "helper.cjs": "module.exports = { a: 1 };" },
  },
  "begins with a shebang": { code: `#!/usr/bin/env node\nconsole.log("x");` },
  "begins with a byte order mark": { code: `\ufeffconsole.log("x");` },
  "is empty": { code: `` },
  "reads and cannot write its files": {
    code: `const fs = require("node:fs");\nconsole.log(fs.readFileSync("data.txt", "utf8"), (fs.statSync("data.txt").mode & 0o777).toString(8), (fs.statSync(__filename).mode & 0o777).toString(8));`,
    files: { "data.txt": "ü\n" },
  },
  "runs in strict mode": { code: `"use strict";\nx = 1;` },
  "overflows its stack": {
    code: `let depth = 0;\nfunction f() { depth += 1; f(); }\ntry { f(); } catch (e) { console.log(e.constructor.name, depth > 5000); }`,
  },
};
