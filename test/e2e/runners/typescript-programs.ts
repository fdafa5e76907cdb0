import type { Program } from "./program.ts";

/** A TypeScript program and what it prints with every toolchain. */
export interface TypeScriptProgram extends Program {
  readonly stdout: string;
  /** Default 0. */
  readonly exitCode?: number;
  /** Must occur in stderr, which otherwise must be empty. */
  readonly stderr?: RegExp;
  /** Toolchains that differ, with the reason. */
  readonly except?: Readonly<Partial<Record<"node" | "bun", string>>>;
}

const helper =
  "export enum Colour { Red = 3 }\nexport const name: string = Colour[3]!;\nexport type Only = { a: 1 };\n";

export const typescriptPrograms: Readonly<Record<string, TypeScriptProgram>> = {
  "uses everything that is not erasable": {
    code: `enum E { A, B = "b" }
const enum C { X = 7 }
namespace N { export const v = 1; export namespace M { export const w = 2 } }
class P { constructor(public readonly a: number, private b = 2) {} sum() { return this.a + this.b } }
abstract class Q<T> { declare x: T; abstract f(): T }
function over(a: string): string; function over(a: number): number; function over(a: any) { return a }
const s = <T,>(x: T) => x satisfies unknown as T;
console.log(E.A, E[0], E.B, C.X, N.v, N.M.w, new P(3).sum(), over(4), s(5)!, typeof Q);`,
    stdout: "0 A b 7 1 2 5 4 5 function\n",
  },
  "has standard decorators": {
    code: `function twice(f: any, context: ClassMethodDecoratorContext) {
  return function (this: any, ...a: any[]) { return [context.kind, String(context.name), f.apply(this, a), f.apply(this, a)].join() };
}
function sealed(value: any, context: ClassDecoratorContext) { context.addInitializer(() => console.log("sealed", context.name)) }
@sealed class A { n = 0; @twice f() { this.n += 1; return this.n } accessor x = 5 }
console.log(new A().f(), new A().x);`,
    stdout: "sealed A\nmethod,f,1,2 5\n",
  },
  "has decorators of parameters": {
    code: `function mark(target: any, key: any, index: number) { console.log("mark", key, index) }
class A { f(@mark a: number, @mark b: number) { return a + b } }
console.log(new A().f(1, 2));`,
    stdout: "mark f 1\nmark f 0\n3\n",
    except: { bun: "Bun 1.4 leaves decorators of parameters out unless a tsconfig.json asks for them" },
  },
  "imports without endings": {
    code: `import { name, Colour, type Only } from "./helper";
import { name as again } from "./helper.js";
import { name as third } from "./helper.ts";
import deep from "./lib";
import { other } from "./lib/other";
const o: Only = { a: 1 };
console.log(name, again, third, Colour.Red, deep, other, o.a);`,
    files: {
      "helper.ts": helper,
      "lib/index.ts": `export { default } from "./deep";`,
      "lib/deep.ts": "export default 9 as number;",
      "lib/other.ts": "export const other = 1n;",
    },
    stdout: "Red Red Red 3 9 1n 1\n",
  },
  "requires without endings": {
    code: `const { name } = require("./helper");\nconst other: any = require("./other.ts");\nimport third = require("./third");
console.log(name, other.x, third.y, typeof module, require.main === module);`,
    files: {
      "helper.ts": "enum E { A }\nexports.name = E[0];",
      "other.ts": "export const x: number = 2;",
      "third.ts": "export = { y: 3 };",
    },
    stdout: "A 2 3 object true\n",
  },
  "imports JSON": {
    code: `import data from "./data.json";\nimport more from "./data.json" with { type: "json" };\nconsole.log(data.a, more.a);`,
    files: { "data.json": `{"a":[1,2]}` },
    stdout: /* as both print */ "[ 1, 2 ] [ 1, 2 ]\n",
  },
  "imports JavaScript": {
    code: `import { a } from "./a.js";\nimport b from "./b.cjs";\nconsole.log(a, b.b);`,
    files: { "a.js": "export const a = 1;", "b.cjs": "exports.b = 2;" },
    stdout: "1 2\n",
  },
  "imports only types": {
    code: `import { T } from "./types";\nimport type { U } from "./types";\nconst t: T | U = 1;\nconsole.log(t, typeof require);`,
    files: { "types.ts": "export type T = number;\nexport interface U { a: 1 }" },
    stdout: "1 function\n",
  },
  "imports late": {
    code: `const { name } = await import("./helper");\nconsole.log(name);`,
    files: { "helper.ts": helper },
    stdout: "Red\n",
  },
  "waits at the top level": { code: `const x: number = await Promise.resolve(5);\nconsole.log(x);`, stdout: "5\n" },
  "knows its place": {
    code: `import path from "node:path";\nconsole.log(path.basename(import.meta.filename), import.meta.main, process.argv.length, path.basename(process.argv[1]!));`,
    arguments: ["a"],
    stdout: "main.ts true 3 main.ts\n",
  },
  "orders its ticks": {
    code: `enum E { A }
Promise.resolve().then(() => console.log("microtask"));
process.nextTick(() => console.log("tick"));
console.log("sync", E.A);`,
    stdout: "sync 0\ntick\nmicrotask\n",
  },
  "reads its input": {
    code: `import fs from "node:fs";\nconst text: string = fs.readFileSync(0, "utf8");\nconsole.log(text.length);`,
    stdin: "z".repeat(200_000),
    stdout: "200000\n",
  },
  throws: {
    code: `enum E { A }\ninterface Long {\n  a: string;\n}\n\nfunction f(x: Long): never {\n  throw new TypeError("bad " + x.a);\n}\nf({ a: "one" });`,
    stdout: "",
    exitCode: 1,
    stderr: /bad one[^]*main\.ts:7:\d+[^]*main\.ts:9:1/,
  },
  "throws in another file": {
    code: `import { f } from "./lib/thrower";\n\nf();`,
    files: {
      "lib/thrower.ts": "enum E { A }\ntype X = 1;\nexport function f(): never {\n  throw new Error('far');\n}",
    },
    stdout: "",
    exitCode: 1,
    stderr: /far[^]*thrower\.ts:4:\d+[^]*main\.ts:3:1/,
  },
  rejects: {
    code: `enum E { A }\ntype X = 1;\nasync function f(): Promise<void> {\n  throw new Error("nobody");\n}\nf();`,
    stdout: "",
    exitCode: 1,
    stderr: /nobody[^]*main\.ts:4:\d+/,
  },
  "shows its stack": {
    code: `enum E { A }\ntype X = 1;\nfunction f() {\n  return new Error("here").stack!.split("\\n")[1]!;\n}\nconsole.log(f().replace(/\\(.*\\//, "(").replace(/:\\d+\\)/, ")"));`,
    stdout: "    at f (main.ts:4)\n",
  },
  exits: { code: `console.log("x");\nprocess.exit(7 as number);`, stdout: "x\n", exitCode: 7 },
  "starts a worker": {
    code: `import { Worker } from "node:worker_threads";
new Worker(new URL("./worker.ts", import.meta.url), { workerData: 4 }).on("message", (m: unknown) => console.log(m));`,
    files: {
      "worker.ts": `import { parentPort, workerData } from "node:worker_threads";\nimport { name } from "./helper";\nenum E { A = 8 }\nparentPort!.postMessage([name, E.A, workerData].join());`,
      "helper.ts": helper,
    },
    stdout: "Red,8,4\n",
  },
  "forks a child": {
    code: `import { fork } from "node:child_process";
const child = fork(new URL("./child.ts", import.meta.url), ["c"]);
child.on("message", (m) => console.log(m)).on("exit", (code) => console.log("child", code));`,
    files: {
      "child.ts": `import { name } from "./helper";\nenum E { A = 8 }\nprocess.send!([name, E.A, process.argv[2]].join(), () => process.exit(4));`,
      "helper.ts": helper,
    },
    stdout: "Red,8,c\nchild 4\n",
  },
  "writes and imports a file": {
    code: `import fs from "node:fs";\nfs.writeFileSync("./made.ts", "export const x: number = 6;");\nconst made = await import("./made.ts");\nconsole.log(made.x);`,
    stdout: "6\n",
  },
  "lacks a file": {
    code: `import { a } from "./nowhere";\nconsole.log(a);`,
    stdout: "",
    exitCode: 1,
    stderr: /nowhere/,
  },
  "lacks a package": {
    code: `import a from "not-there-at-all";\nconsole.log(a);`,
    stdout: "",
    exitCode: 1,
    stderr: /Cannot find package 'not-there-at-all'/,
  },
  "has JSX": {
    code: `import { view } from "./view";\nconsole.log(view());`,
    files: {
      "view.tsx":
        "/** @jsxRuntime classic */\n/** @jsx h */\nconst h = (name: string, _: null, ...c: string[]) => name + c.join();\nexport const view = (): string => <b>hi</b> as any;",
    },
    stdout: "bhi\n",
  },
  "has a blank in a name": {
    code: `import { x } from "./a b";\nconsole.log(x);`,
    files: { "a b.ts": "enum E { A = 2 }\nexport const x = E.A;" },
    stdout: "2\n",
  },
  "is a module by its package": {
    code: `enum E { A }\nconsole.log(typeof require, E.A);`,
    files: { "package.json": `{"type":"module"}` },
    stdout: "undefined 0\n",
    except: { bun: "Bun offers require in modules too" },
  },
};
