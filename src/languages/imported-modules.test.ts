import { describe, expect, it } from "vitest";
import { importedModules, joinedModules } from "./imported-modules.ts";

describe("the modules that a program imports at the beginning of a line", () => {
  it.each<[string, readonly (readonly [string, readonly string[]])[]]>([
    [
      "import pandas as pd, matplotlib.pyplot as plt  # both",
      [
        ["pandas", []],
        ["matplotlib.pyplot", []],
      ],
    ],
    ["x = 1\nfrom matplotlib import pyplot as plt, cm; print(1)", [["matplotlib", ["pyplot", "cm"]]]],
    ["from a.b import (c, d)", [["a.b", ["c", "d"]]]],
    ["from a import (\n  b,\n)\nfrom a import *", [["a", []]]],
    [
      "import a\r\nimport a, b\r\n",
      [
        ["a", []],
        ["b", []],
      ],
    ],
    ["def f():\n    import a\nfrom . import b\nfrom .c import d\nimportlib.x\nimport 'a'", []],
    ["import été", [["été", []]]],
  ])("of %j", (code, modules) => {
    expect(importedModules(code).map(({ module, names }) => [module, names])).toEqual(modules);
  });

  it("are bounded, and joined with those of others", () => {
    const many = importedModules(Array.from({ length: 99 }, (_, index) => `import m${index}`).join("\n"));
    expect(many).toHaveLength(40);
    expect(importedModules(`import ${"a".repeat(300)}`)).toEqual([]);
    const [a] = importedModules("from a import b");
    expect(joinedModules([...(a === undefined ? [] : [a])], importedModules("from a import c\nimport d"))).toEqual([
      { module: "a", names: ["b", "c"] },
      { module: "d", names: [] },
    ]);
  });
});
