import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { systemsOf, untestedBranches } from "./architecture/platform-branches.ts";

const root = new URL("../", import.meta.url);
const texts = new Map(
  globSync("src/**/*.{ts,tsx}", { cwd: root }).map((path) => [
    path.replaceAll("\\", "/"),
    readFileSync(new URL(path, root), "utf8"),
  ]),
);

describe("code that behaves otherwise on one system than on another", () => {
  it("has a unit test beside it that tries it as on the others", () => {
    expect(untestedBranches(texts)).toEqual([]);
  });

  it("was looked for, and found where it is", () => {
    const found = [...texts].filter(([path, text]) => !path.endsWith(".test.ts") && systemsOf(path, text).length > 0);
    expect(found.length).toBeGreaterThan(30);
    expect(found.map(([path]) => path)).toEqual(
      expect.arrayContaining([
        "src/engines/docker/docker-engine.ts",
        "src/engines/local/preload/preload-run.ts",
        "src/policy/mounts/mount-policy.ts",
      ]),
    );
  });

  it.each([
    ["a comparison", `export const a = (p: string) => p === "win32";`, ["win32"]],
    ["a table", `export const a = {\n  darwin: "open",\n  win32: "start",\n};`, ["darwin", "win32"]],
    ["the separator", `import path from "node:path";\nexport const a = path.sep;`, ["linux", "win32"]],
    [
      "the delimiter by its name",
      `import { delimiter } from "node:path";\nexport const a = delimiter;`,
      ["linux", "win32"],
    ],
    ["a comment", `/* "win32" */ export const a = 1; // "darwin"`, []],
  ])("is %s", (_, text, systems) => {
    expect(systemsOf("src/base/x.ts", text)).toEqual(systems);
  });

  it.each([
    ["is of another file", `import "./y.ts"; call("linux"); call("win32");`, /no test beside it that imports it/],
    ["tries another system", `import "./x.ts"; call("linux"); call("darwin");`, /do not try it as on win32/],
    ["tries one system", `import "./x.ts"; call("win32");`, /try it as on win32 only/],
  ])("is found when its test %s", (_, test, problem) => {
    const planted = new Map([["src/base/x.ts", `export const a = (p: string) => p === "win32";`]]);
    planted.set("src/base/some.test.ts", test.replace('import "', 'import { a } from "'));
    expect(untestedBranches(planted)).toEqual([expect.stringMatching(problem)]);
  });

  it("reads scripts for Linux in a way that no checkout on Windows breaks", () => {
    const readers = [...texts].filter(
      ([path, text]) => !path.endsWith(".test.ts") && /new URL\(\s*["`](?:\.\.\/)+images\//.test(text),
    );
    expect(readers.length).toBeGreaterThan(5);
    expect(readers.filter(([, text]) => !text.includes("/packaged-script.ts")).map(([path]) => path)).toEqual([]);
  });
});
