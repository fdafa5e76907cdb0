/*
 * Becomes a program of an installed package, or of this interpreter, as `npx` and `node` would start it.
 *
 * Arguments: what to start (package, interpreter), the package, the name of its program (empty: its default one), and
 * the program's own arguments.
 */
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const notFound = 127;
const [kind, name, wanted, ...rest] = process.argv.slice(2);

function fail(message) {
  fs.writeSync(2, `glovebox: ${message}\n`);
  process.exit(notFound);
}

function packageFolder() {
  const folders = (require.resolve.paths(name) ?? []).map((folder) => path.join(folder, name));
  return folders.find((folder) => fs.existsSync(path.join(folder, "package.json"))) ?? fail(`${name} is not installed`);
}

/** Follows the rule of npx: the named program, the only one, or the one with the package's name. */
function programOf(folder) {
  const { bin } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
  const usual = name.replace(/^@[^/]*\//, "");
  const programs = typeof bin === "string" ? { [usual]: bin } : (bin ?? {});
  const names = Object.keys(programs);
  if (names.length === 0) fail(`${name} has no program`);
  const isOne = new Set(Object.values(programs)).size === 1;
  const chosen = wanted !== "" ? wanted : isOne ? names[0] : usual;
  if (!Object.hasOwn(programs, chosen)) fail(`${name} has no program ${chosen}, but ${names.join(", ")}`);
  return path.join(folder, programs[chosen]);
}

/** Runs it in this process if a guard allows no other program. */
function become(argv, file) {
  if (typeof process.execve === "function" && process.permission === undefined) {
    process.execve(process.execPath, [process.argv0, ...argv], process.env);
  }
  if (file === null) fail("options of the interpreter need a sandbox that starts programs");
  process.argv.splice(1, process.argv.length, ...argv);
  // What it throws ends this process, like an error in a main file.
  void import(pathToFileURL(file).href);
}

if (kind === "package") {
  const file = programOf(packageFolder());
  become([file, ...rest], file);
} else {
  const [first = ""] = rest;
  become(rest, first.startsWith("-") || first === "" ? null : path.resolve(first));
}
