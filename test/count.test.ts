import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { circlesOf, longestChainOf, structureOf, structureRows } from "../scripts/count/structure.ts";

const root = mkdtempSync(join(tmpdir(), "glovebox-count-"));
afterAll(() => rmSync(root, { recursive: true }));

describe("structureOf", () => {
  it("finds what makes a house hard to walk through, types too, tests left out", () => {
    const files: Record<string, string> = {
      "src/a.ts": 'import type { B } from "./inner/b.ts";\nexport type A = B;\n',
      "src/inner/b.ts": 'import type { A } from "../a.ts";\nexport type B = A;\n',
      "src/long.ts": `export const long = (): void => {\n${"void 0;\n".repeat(59)}};\n`,
      "src/just.ts": `export const just = (): void => {\n${"void 0;\n".repeat(58)}};\n`,
      "src/long.test.ts": `export const long = (): void => {\n${"void 0;\n".repeat(59)}};\n`,
      "src/inner/first.ts": 'export { long } from "../long.ts";\nexport class Twice {}\n',
      "src/inner/deep/b.ts": 'import "../first.ts";\nimport "../../just.ts";\nexport interface Twice {}\n',
      "src/other.ts": 'import "./just.ts";\n',
      "src/inner/wide.ts": "",
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    expect(structureOf(root)).toEqual({
      ...{ files: 8, lines: 131, folders: 3 },
      longFunctions: ["src/long.ts:1 (61)"],
      smallFolders: ["src/inner/deep"],
      longestChain: ["src/inner/deep/b.ts", "src/inner/first.ts", "src/long.ts"],
      singleImporters: ["src/inner/b.ts", "src/a.ts", "src/inner/first.ts", "src/long.ts"],
      repeatedNames: ["b.ts (2)", "Twice (2)"],
      circles: ["src/a.ts, src/inner/b.ts"],
    });
  });
});

describe("the product's sources", () => {
  /** What was counted last. A figure that falls is written down here in the same change, so that it cannot rise again. */
  const limits: Readonly<Record<string, number>> = {
    "source files": 651,
    "source folders": 79,
    "folders of at most 3 files": 9,
    "files on the longest import chain": 32,
    "files with one importer, in percent": 20,
    "names declared twice": 112,
    "functions over 60 lines": 12,
    "import circles": 0,
  };
  const found = structureRows(structureOf("."));

  it.each(Object.keys(limits))("have no more %s than before", (row) => {
    expect(found[row]).toBeLessThanOrEqual(limits[row] ?? 0);
  });

  it("were looked at", () => {
    expect(found["source files"]).toBeGreaterThan(500);
  });
});

describe("longestChainOf", () => {
  it("walks through a cycle once", () => {
    const imports = { a: ["b"], b: ["c"], c: ["a", "d"], d: ["e"], e: [] };
    expect(longestChainOf(new Map(Object.entries(imports)))).toEqual(["a", "b", "c", "d", "e"]);
  });
});

describe("circlesOf", () => {
  it("separates circles, and does not mistake a chain for one", () => {
    const imports = { a: ["b"], b: ["c"], c: ["a", "d"], d: ["e"], e: ["d", "f"], f: [] };
    const circles = circlesOf(new Map(Object.entries(imports)));
    expect(circles.map((circle) => circle.toSorted().join("")).toSorted()).toEqual(["abc", "de"]);
  });
});
