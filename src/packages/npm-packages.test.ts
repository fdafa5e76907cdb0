import { describe, expect, it } from "vitest";
import { findSpecifiers } from "./npm-packages.ts";

const find = (source: string, path = "main.js"): string =>
  [...findSpecifiers(path, source).keys()].toSorted().join(" ");

describe("findSpecifiers", () => {
  it.each([
    ["static imports", "import a from 'a'; import 'b'; import * as c from 'c'; import {} from 'd'", "a b c d"],
    [
      "re-exports",
      "export * from 'a'; export * as b from 'b'; export { c } from 'c'; export {}; export const d = 1",
      "a b c",
    ],
    ["dynamic imports", "import('a'); import(`b`); import(c); import('d' + e); import(`f${g}`)", "a b"],
    ["phases", "import defer * as a from 'a'; import source b from 'b'", "a b"],
    ["require", "require('a'); require(`b`); require(c); require(); x.require('d'); module.require('e')", "a b e"],
    ["escapes", "import '\\u0061'; require('\\x62')", "a b"],
    ["nested places", "class A { static { require('a') } b = () => `${require('b')}` }", "a b"],
    ["optional calls", "require?.('a')?.b", "a"],
    ["what resolves but does not load", "import.meta.resolve('a'); require.resolve('b')", ""],
    ["comments and strings", "// require('a')\n/* import 'b' */ '\"; import \"c\"'; /require('d')/", ""],
    ["sloppy code", "<!-- old\nwith (a) { require('b') } var await = 010; return require('c')", "b c"],
    ["a byte order mark, a hashbang and CRLF", "\uFEFF#!/usr/bin/env node\r\nrequire('a')\r\n", "a"],
    ["a lone surrogate", "'\ud800'; require('a')", "a"],
  ])("%s", (_, source, expected) => {
    expect(find(source)).toBe(expected);
  });

  it.each([
    ["a parameter", "function f(require) { require('no') } require('yes')"],
    ["a destructured parameter", "(({ a: [require = 1] }) => require('no')); require('yes')"],
    ["an arrow's", "require => require('no'); require('yes')"],
    ["a block's", "{ let require = f; require('no') } require('yes')"],
    ["a function's var, hoisted", "function f() { require('no'); { var require } } require('yes')"],
    ["a catch clause's", "try {} catch (require) { require('no') } require('yes')"],
    ["a function expression's own", "(function require() { require('no') }); require('yes')"],
    ["a block's function", "{ function require() {} require('no') } require('yes')"],
    ["a bundler's wrapper", "(function (require, module, exports) { require('no') })(r); require('yes')"],
  ])("leaves out calls of %s require", (_, source) => {
    expect(find(source)).toBe("yes");
  });

  it("leaves out calls of a require that the whole file declares", () => {
    expect(find("import { require } from 'a'; require('no')")).toBe("a");
  });

  it.each([
    "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url); require('a')",
    "import module from 'node:module'; const load = module.createRequire(import.meta.url); load('a')",
    "import { createRequire } from 'node:module'; createRequire(import.meta.url)('a')",
  ])("takes a made require for the real one: %s", (source) => {
    expect(find(source)).toBe("a node:module");
  });

  it.each([
    [
      "types",
      "import type { A } from 'a'; export type { B } from 'b'; import { type C } from 'c'; import('d') as import('e').E",
      "d",
    ],
    ["types and values together", "import { type A, b } from 'a'; import c, { type D } from 'c'", "a c"],
    [
      "import equals",
      "import a = require('a'); export import b = require('b'); import type c = require('c'); import d = N.e",
      "a b",
    ],
    ["export equals", "export = require('a')", "a"],
    ["ambient declarations", "declare const require: any; declare module 'm' { import a from 'a' } require('b')", "b"],
    ["namespaces with code", "namespace N { export const a = require('a') }", "a"],
    [
      "decorators, enums, assertions",
      "@(require('a')) class A {} enum E { B = require('b') } <any>require('c')",
      "a b c",
    ],
    ["elements in a file without the ending for them", "import a from 'a'; const b = <p>import 'c'</p>", "a"],
  ])("TypeScript: %s", (_, source, expected) => {
    expect(find(source, "main.ts")).toBe(expected);
  });

  it.each([
    ["<p>import 'a'</p>", "react/jsx-runtime"],
    ["<><b/></>", "react/jsx-runtime"],
    ["/** @jsxImportSource preact */ <p/>", "preact/jsx-runtime"],
    ["/** @jsxRuntime classic */ <p/>", ""],
    ["1 < 2", ""],
  ])("elements need what makes them: %s", (source, expected) => {
    expect(find(source, "a.jsx")).toBe(expected);
    expect(find(source, "a.tsx")).toBe(expected);
    expect(find(source, "a.js")).toBe("");
  });

  it.each(["import 'a'; class {", "\0", "import", "a b c import 'd'"])("gives nothing for %j", (source) => {
    expect(find(source)).toBe("");
  });

  it("reads no declarations and no other files", () => {
    expect(find("import 'a'", "a.d.ts") + find("import 'a'", "a.d.mts") + find("import 'a'", "a.txt")).toBe("");
  });
});
