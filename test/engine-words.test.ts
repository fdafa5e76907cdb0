import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { engineTable } from "../src/engines/engine-table.ts";
import { engineWordExceptions, engineWords } from "./architecture/engine-words.ts";

const root = new URL("../", import.meta.url);
const paths = globSync("src/**/*.ts", { cwd: root }).map((path) => path.replaceAll("\\", "/"));
const found = new Map(
  paths
    .filter((path) => !path.endsWith(".test.ts"))
    .map((path) => [path, engineWords(path, readFileSync(new URL(path, root), "utf8"))] as const),
);
const inEngines = (path: string): boolean => path.startsWith("src/engines/");

describe("an engine is one folder and one row", () => {
  it("no other code knows one by its name", () => {
    const strangers = [...found].filter(
      ([path, words]) => words.length > 0 && !inEngines(path) && engineWordExceptions[path] === undefined,
    );
    expect(strangers).toEqual([]);
  });

  it("of an engine's folder only the table knows", () => {
    const engines = engineTable.map(({ name }) => name);
    const table = readFileSync(new URL("src/engines/engine-table.ts", root), "utf8");
    for (const { name, open } of engineTable) expect(table.includes(`import("./${name}/`)).toBe(open !== undefined);
    const others = paths.filter((path) => /^src\/engines\/[^/]+\.ts$/.test(path) && !path.endsWith("engine-table.ts"));
    expect(others.length).toBeGreaterThan(10);
    for (const path of others.filter((each) => !each.endsWith(".test.ts"))) {
      const text = readFileSync(new URL(path, root), "utf8");
      expect([path, engines.filter((name) => text.includes(`"./${name}/`))]).toEqual([path, []]);
    }
  });

  it("was looked for: each engine's folder holds its name, and so does the table", () => {
    expect(found.size).toBeGreaterThan(500);
    for (const { name } of engineTable) expect(found.get("src/engines/engine-table.ts")).toContain(name);
    for (const { name, open } of engineTable.filter((row) => row.open !== undefined)) {
      const own = [...found].filter(([path]) => path.startsWith(`src/engines/${name}/`));
      expect([name, open !== undefined && own.some(([, words]) => words.includes(name))]).toEqual([name, true]);
    }
  });

  it("no exception is without its reason, or without its use", () => {
    for (const [path, reason] of Object.entries(engineWordExceptions)) {
      expect(reason).toMatch(/\w+ \w+/);
      expect([path, found.get(path)]).toEqual([path, expect.arrayContaining([expect.any(String)])]);
    }
  });
});

describe("what counts as a name", () => {
  it.each([
    ["a string", `if (engine.name === "podman") run();`, ["podman"]],
    ["a key", `const rows = { docker: 1 };`, ["docker"]],
    ["a part of a name", `import { createDockerEngine } from "./x.ts";`, ["docker"]],
    ["a text", "throw new Error(`Use Docker or ${other}.`);", ["docker"]],
    ["a runtime", `const advice = "install gVisor (runsc)";`, ["runsc", "gvisor"]],
    ["a word of several meanings, as a whole string", `if (name === "local") run();`, ["local"]],
    ["a level, as a whole string", `if (isolation !== "preload") run();`, ["preload"]],
    ["a folder", `import { one } from "../../engines/local/one-of-its-files.ts";`, ["local"]],
  ])("%s", (_, text, words) => {
    expect(engineWords("src/x.ts", text)).toEqual(words);
  });

  it.each([
    ["a comment", `// as Docker does\n/* podman */ run();`],
    ["the word in a sentence", `const text = "a local file, at isolation preload";`],
    ["whom an operation is for", `export const row = { audience: "local" };`],
    ["who sits at this machine", `const principal = "local";`],
  ])("not %s", (_, text) => {
    expect(engineWords("src/x.ts", text)).toEqual([]);
  });
});
