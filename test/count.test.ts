import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { circlesOf, structureOf } from "../scripts/count/structure.ts";

const root = mkdtempSync(join(tmpdir(), "glovebox-count-"));
afterAll(() => rmSync(root, { recursive: true }));

describe("structureOf", () => {
  it("finds long functions, full folders, and circles of types too, tests left out", () => {
    const files: Record<string, string> = {
      "src/a.ts": 'import type { B } from "./inner/b.ts";\nexport type A = B;\n',
      "src/inner/b.ts": 'import type { A } from "../a.ts";\nexport type B = A;\n',
      "src/long.ts": `export const long = (): void => {\n${"void 0;\n".repeat(59)}};\n`,
      "src/just.ts": `export const just = (): void => {\n${"void 0;\n".repeat(58)}};\n`,
      "src/long.test.ts": `export const long = (): void => {\n${"void 0;\n".repeat(59)}};\n`,
    };
    for (let count = 0; count < 16; count++) files[`src/full/f${count}.ts`] = "";
    for (let count = 0; count < 16; count++) files[`src/tested/f${count}.test.ts`] = "";
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    expect(structureOf(root)).toEqual({
      ...{ files: 20, lines: 125 },
      longFunctions: ["src/long.ts:1 (61)"],
      fullFolders: ["src/full (16)"],
      circles: ["src/a.ts, src/inner/b.ts"],
    });
  });
});

describe("circlesOf", () => {
  it("separates circles, and does not mistake a chain for one", () => {
    const imports = { a: ["b"], b: ["c"], c: ["a", "d"], d: ["e"], e: ["d", "f"], f: [] };
    const circles = circlesOf(new Map(Object.entries(imports)));
    expect(circles.map((circle) => circle.toSorted().join("")).toSorted()).toEqual(["abc", "de"]);
  });
});
