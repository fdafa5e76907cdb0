import { describe, expect, it } from "vitest";
import { notebookCode, readMappings } from "./notebook-code.ts";
import { stripTypeScriptTypes } from "node:module";

/** What stands inside the promise. */
function inside(source: string): string {
  const made = notebookCode(source);
  if (!("code" in made)) throw new Error(JSON.stringify(made));
  return made.code.slice("(async () => {".length, -"\n})()".length);
}

describe("notebookCode", () => {
  it.each([
    ["const a = 1, b = 2; 0", '__glovebox.declare(["a","b"]);void (a = 1), (b = 2); return (0)'],
    ["let a, b = 2\n0", '__glovebox.declare(["a","b"]);void (a=void 0), (b = 2)\nreturn (0)'],
    ["var a; 0", '__glovebox.declare(["a"]);void (a); return (0)'],
    [
      "const { a, b: [c = 1, ...d], ...e } = f()\nnull",
      '__glovebox.declare(["e","d","c","a"]);void ({ a, b: [c = 1, ...d], ...e } = f())\nreturn (null)',
    ],
    ["async function* f() {}", '__glovebox.declare(["f"]);f=__glovebox.named(f$gb,"f");async function* f$gb() {}'],
    ["class A {}\nA", '__glovebox.declare(["A"]);A=class A {};\nreturn (A)'],
    [
      "for (var i = 0, n; ;) { if (i) var x = 1; else var y }",
      '__glovebox.declare(["y","x","i","n"]);for (i = 0, n; ;) { if (i) void (x = 1); else void (y) }',
    ],
    ["for (var [k] of m) k", '__glovebox.declare(["k"]);for ([k] of m) k'],
    ["for (let i of m) { const x = i } () => { var y }", "for (let i of m) { const x = i } return (() => { var y })"],
    ["using a = b", "using a = b"],
  ])("makes variables of the interpreter of %j", (source, expected) => {
    expect(inside(source)).toBe(expected);
  });

  it.each([
    ["import 'a';\n1", 'await __glovebox.import("a", []);\nreturn (1)'],
    [
      "import a, {\n  b as c,\n} from 'm'",
      '__glovebox.declare(["a","c"]);await __glovebox.import("m", [["default","a"],["b","c"]]);\n\n',
    ],
    [
      "import * as n from './n.json' with { type: 'json' };",
      '__glovebox.declare(["n"]);await __glovebox.import("./n.json", [["*","n"]], {"with":{"type":"json"}});',
    ],
    ["export * from 'a'; export { b } from 'c'", 'await __glovebox.load("a"); await __glovebox.load("c");'],
    ["import('a', b)", "return (__glovebox.load('a', b))"],
    ["() => import.meta.url", "return (() => __glovebox.meta.url)"],
  ])("loads %j where it stands", (source, expected) => expect(inside(source)).toBe(expected));

  it.each([
    ["export const a = 1", '__glovebox.declare(["a"]); void (a = 1)'],
    ["export default (1, 2)", "return  (1, 2)"],
    ["export default 1; 2", "void  1; return (2)"],
    ["const a = 1; export { a }", '__glovebox.declare(["a"]);void (a = 1); '],
    ["export default function f() {}", '__glovebox.declare(["f"]);f=__glovebox.named(f$gb,"f"); function f$gb() {}'],
  ])("takes %j for what it declares", (source, expected) => expect(inside(source)).toBe(expected));

  it.each([
    ["(a, b)", "return ((a, b))"],
    ["a // no value ;", "return (a) // no value ;"],
    ["a\n;[1]", "a\n;return ([1])"],
    ["if (a) b", "if (a) b"],
    ["#!/usr/bin/env node\na", "///usr/bin/env node\nreturn (a)"],
    ["", ""],
  ])("gives the value of the last expression of %j", (source, expected) => expect(inside(source)).toBe(expected));

  it("says where each piece of what runs stands in the code", () => {
    const sources = [
      "const a = 1; fails(a)",
      "import x, {\n  y,\n} from 'm'; let z = f(x)\nexport default class A { m() { return import('n') } }",
      "  function f() {\n    for (var i = 0; i < 3; i++) g(i)\n  }\nvar { b, c: [d] } = f(), e\n\nb + d;",
      "#!/usr/bin/env bun\nnull.x",
    ];
    let pieces = 0;
    for (const source of sources) {
      const made = notebookCode(source);
      if (!("code" in made)) throw new Error(JSON.stringify(made));
      const { lines, edits } = made.places;
      const [there, here] = [made.code.split("\n"), source.split("\n")];
      expect([lines, there.slice(lines)]).toEqual([here.length, ["})()"]]);
      for (const [index, line] of here.entries()) {
        const kept = (edits[index + 1] ?? [[0, 0, 1]]).entries();
        for (const [at, [column, from, isKept]] of kept) {
          const end = edits[index + 1]?.[at + 1]?.[0] ?? (there[index] ?? "").length;
          const piece = there[index]?.slice(column, end);
          expect(isKept === 1 ? line.slice(from, from + end - column) : piece).toBe(piece);
          pieces += isKept;
        }
      }
    }
    expect(pieces).toBeGreaterThan(20);
  });

  it("says where a mistake is, and what only a compiler knows", () => {
    expect(notebookCode("let x = 1;\n  let y = ;")).toMatchObject({ mistake: { line: 2, column: 11 } });
    expect(notebookCode("return 1")).toMatchObject({ mistake: { line: 1, column: 1 } });
    expect(notebookCode("@dec class A {}")).toEqual({ needsCompiler: true });
    expect(notebookCode("const a = <p/>")).toEqual({ needsCompiler: true });
  });
});

it("a source map's places are those of what the compiler has read", () => {
  const source =
    "// first\n\n\nenum Kind { A = 1 }\n\nfunction f(a: number) {\n\n    throw new Error(`x${a}`);\n}\nf(Kind.A)\n";
  const made = stripTypeScriptTypes(source, { mode: "transform", sourceMap: true });
  const [code = "", map = ""] = made.split("//# sourceMappingURL=data:application/json;base64,");
  const { mappings } = JSON.parse(Buffer.from(map, "base64").toString()) as { readonly mappings: string };
  const places = readMappings(mappings);
  const [there, here] = [code.split("\n"), source.split("\n")];
  const line = there.findIndex((each) => each.includes("throw"));
  expect(line).not.toBe(7);
  expect(places[line]?.[0]).toEqual([4, 7, 4]);
  const error = there[line]?.indexOf("Error") ?? -1;
  expect(places[line]).toContainEqual([error, 7, here[7]?.indexOf("Error")]);
});

it("what is no source map has no more places than characters", () => {
  expect(readMappings("")).toEqual([[]]);
  expect(readMappings("AAAA;;AACA,C,IADA")).toEqual([
    [[0, 0, 0]],
    [],
    [
      [0, 1, 0],
      [5, 0, 0],
    ],
  ]);
  const hostile = `${"+/".repeat(100_000)};${"\u0000,?".repeat(10_000)}`;
  expect(readMappings(hostile).flat().length).toBeLessThan(hostile.length);
});
