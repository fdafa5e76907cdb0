import { existsSync, globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findCircles, readImportGraph } from "./architecture/find-circles.ts";
import { findViolations, layerOf } from "./architecture/find-violations.ts";
import { pageProblems } from "./architecture/room-table.ts";
import { layerOrder, layers, onePlacePackages, splitFolders } from "./architecture/layers.ts";
import { operationTable } from "../src/operations/table.ts";
import { readSource } from "./architecture/read-source.ts";

const root = new URL("../", import.meta.url);
const paths = globSync("src/**/*.{ts,tsx,mts,cts,js,mjs,cjs}", { cwd: root }).map((path) => path.replaceAll("\\", "/"));
const sources = new Map(paths.map((path) => [path, readFileSync(new URL(path, root), "utf8")]));
const folders = globSync("src/*/", { cwd: root }).map((path) => path.replaceAll("\\", "/").split("/")[1] ?? "");
const violationsOf = (path: string, text: string): readonly string[] => findViolations(new Map([[path, text]]));

describe("the import table", () => {
  it("names its layers in the order of the design, and each imports only lower ones", () => {
    expect(Object.keys(layers)).toEqual(layerOrder);
    const upward = Object.entries(layers).flatMap(([name, rule]) =>
      rule.layers.filter((other) => layerOrder.indexOf(other) >= layerOrder.indexOf(name)),
    );
    expect(upward).toEqual([]);
    expect(layers["mcp"]?.layers).not.toContain("http");
  });

  it("holds for every file of the sources", () => {
    expect(findViolations(sources)).toEqual([]);
  });

  it("was checked against files of every existing layer", () => {
    const read = new Set(paths.map((path) => layerOf(path)).filter((layer) => layer !== undefined));
    const expected = folders.flatMap((folder) => Object.keys(splitFolders[folder] ?? { [folder]: folder }));
    expect([...read].toSorted()).toEqual(expected.toSorted());
    expect(read.size).toBeGreaterThanOrEqual(4);
    const imports = [...sources].flatMap(([path, text]) => readSource(path, text).imports);
    expect(imports.length).toBeGreaterThan(sources.size);
  });

  it("lets contracts import errors, languages, zod and each other only, and doors no handler", () => {
    expect(layers["contracts"]).toEqual({ layers: ["errors", "words", "languages"], packages: ["zod"], builtins: [] });
    const knowHandlers = Object.keys(layers).filter((name) => layers[name]?.layers.includes("handlers"));
    expect(knowHandlers).toEqual(["platform"]);
  });

  it("was checked against the contract of each operation", () => {
    const contracts = paths.filter((path) => layerOf(path) === "contracts");
    const defined = contracts.flatMap((path) => (sources.get(path) ?? "").match(/= defineOperation\(\{/g) ?? []);
    expect(defined).toHaveLength(operationTable.length);
    const elsewhere = paths.filter(
      (path) => layerOf(path) !== "contracts" && /= defineOperation\(\{/.test(sources.get(path) ?? ""),
    );
    expect(elsewhere.filter((path) => !path.endsWith(".test.ts"))).toEqual([]);
  });

  it.each(onePlacePackages)("finds %s in exactly one file", (name) => {
    const places = [...sources].filter(([path, text]) => readSource(path, text).imports.includes(name));
    expect(places.map(([path]) => path)).toEqual([expect.stringMatching(/^src\//)]);
  });
});

describe("what the import table refuses", () => {
  it.each([
    ["a static import", `import { run } from "../sandbox/sandbox.ts";`],
    ["an import for its effects", `import "../sandbox/sandbox.ts";`],
    ["a type import", `import type { Sandbox } from "../sandbox/sandbox.ts";`],
    ["a type expression", `export type S = import("../sandbox/sandbox.ts").Sandbox;`],
    ["an export from", `export { run } from "../sandbox/sandbox.ts";`],
    ["an export of all", `export * from "../sandbox/sandbox.ts";`],
    ["a dynamic import", `export const load = () => import("../sandbox/sandbox.ts");`],
    ["a dynamic import by template", "export const load = () => import(`../sandbox/sandbox.ts`);"],
    ["a require", `const s = require("../sandbox/sandbox.ts");`],
    ["an import after misleading comments", `/* " */ import { run } from "../sandbox/sandbox.ts"; // "`],
  ])("%s of a higher layer", (_, text) => {
    expect(violationsOf("src/policy/x.ts", text)).toEqual([
      "src/policy/x.ts: layer policy may not import layer sandbox",
    ]);
  });

  it.each([
    ["a computed name", "src/engines/x.ts", `export const load = (name: string) => import(name);`, /computed/],
    ["a package that the row does not list", "src/engines/x.ts", `import { z } from "zod/v4";`, /package zod/],
    ["a scoped package", "src/sandbox/x.ts", `import { a } from "@scope/name/sub";`, /package @scope\/name$/],
    ["a resolved package", "src/policy/x.ts", `export const p = import.meta.resolve("bun/bin");`, /package bun/],
    ["an effectful module in a pure layer", "src/policy/x.ts", `import { readFileSync } from "node:fs";`, /node:fs/],
    [
      "HTTP in what runs inside a container",
      "src/engines/supervised/x.ts",
      `import http from "node:http";`,
      /no business/,
    ],
    ["a module without its prefix", "src/engines/x.ts", `import { readFileSync } from "fs";`, /without node:/],
    ["a file outside src", "src/cli/x.ts", `import manifest from "../../package.json";`, /leaves src/],
    ["the library's own entry", "src/cli/x.ts", `import { a } from "../index.ts";`, /nothing below/],
    [
      "an engine in an engine",
      "src/engines/docker/x.ts",
      `import { a } from "../podman/y.ts";`,
      /sibling engines\/podman/,
    ],
    [
      "Docker's API in what runs inside a container",
      "src/engines/supervised/x.ts",
      `import { a } from "../docker-api/http/api.ts";`,
      /supervised may not import its sibling engines\/docker-api/,
    ],
    [
      "an engine outside the engine table",
      "src/engines/x.ts",
      `import { a } from "./local/y.ts";`,
      /sibling engines\/local/,
    ],
    [
      "a workload in a workload",
      "src/workloads/tests/x.ts",
      `import { a } from "../execute/y.ts";`,
      /sibling workloads/,
    ],
    ["a door in a door", "src/mcp/x.ts", `import { a } from "../http/y.ts";`, /layer mcp may not import layer http/],
    [
      "a policy in a contract",
      "src/operations/x-contract.ts",
      `import { a } from "../policy/limits.ts";`,
      /layer contracts may not import layer policy/,
    ],
    [
      "small pieces in what contracts share",
      "src/operations/contract/x.ts",
      `import type { A } from "../../base/bytes.ts";`,
      /layer contracts may not import layer base/,
    ],
    [
      "a contract's schema in a policy",
      "src/policy/x.ts",
      `import { a } from "../operations/contract/request-schemas.ts";`,
      /layer policy may not import layer contracts/,
    ],
    [
      "a handler in a contract",
      "src/operations/x-contract.ts",
      `import { a } from "./x-handler.ts";`,
      /layer contracts may not import layer handlers/,
    ],
    [
      "Node in a contract",
      "src/operations/contract/x.ts",
      `import { Buffer } from "node:buffer";`,
      /may not import node:buffer/,
    ],
    [
      "the platform in a handler",
      "src/operations/x-handler.ts",
      `import type { Platform } from "../platform/platform.ts";`,
      /layer handlers may not import layer platform/,
    ],
    [
      "a handler in a door",
      "src/mcp/x.ts",
      `import { handlers } from "../operations/handlers.ts";`,
      /layer mcp may not import layer handlers/,
    ],
    [
      "what handlers share in the library",
      "src/library/x.ts",
      `import { handle } from "../operations/handler.ts";`,
      /layer library may not import layer handlers/,
    ],
    ["an engine in the library's entry", "src/index.ts", `export { a } from "./engines/engine.ts";`, /layer engines/],
    ["a layer without a row", "src/misc/x.ts", `export {};`, /no layer/],
    ["another file under src", "src/other.ts", `export {};`, /no layer/],
    ["process.env", "src/engines/x.ts", "export const a = process.env.HOME;", /process\.env/],
    ["process['env']", "src/engines/x.ts", `export const a = process["env"];`, /process\.env/],
    ["process.env beside a process of ours", "src/engines/x.ts", "const process = a(); process.env;", /process\.env/],
    ["process.stdout", "src/sandbox/x.ts", `process.stdout.write("x");`, /process\.stdout/],
    ["process.platform", "src/sandbox/x.ts", "export const a = process.platform;", /process\.platform/],
    ["a destructured process", "src/sandbox/x.ts", "const { env } = process; export { env };", /process/],
    [
      "an imported process",
      "src/sandbox/x.ts",
      `import { env } from "node:process"; export { env };`,
      /node:process env/,
    ],
    ["the host's folders", "src/sandbox/x.ts", `import { homedir } from "node:os"; export { homedir };`, /homedir/],
    ["the clock", "src/sandbox/x.ts", "export const now = () => Date.now();", /Date\.now/],
    ["a new date", "src/sandbox/x.ts", "export const now = () => new Date();", /new Date/],
    [
      "randomness",
      "src/sandbox/x.ts",
      `import { randomUUID } from "node:crypto"; export { randomUUID };`,
      /randomUUID/,
    ],
  ])("%s", (_, path, text, reason) => {
    expect(violationsOf(path, text)).toEqual([expect.stringMatching(reason)]);
  });

  it("a second file with a vendor's package", () => {
    const text = `import { parseSync } from "oxc-parser";`;
    const two = new Map([
      ["src/packages/read.ts", text],
      ["src/packages/read-more.ts", text],
    ]);
    expect(findViolations(two)).toEqual([expect.stringContaining("oxc-parser is imported in more than one file")]);
  });

  it("a file that does not parse", () => {
    expect(() => violationsOf("src/policy/x.ts", "import {{")).toThrow(/src\/policy\/x\.ts/);
  });
});

describe("what the import table lets through", () => {
  it.each([
    [
      "an import in a comment",
      "src/policy/x.ts",
      `// import "../cli/main.ts"\n/* import("../cli/main.ts") */ export {};`,
    ],
    ["an import in a string", "src/policy/x.ts", `export const a = 'import "../cli/main.ts"; process.env.HOME';`],
    ["an import in a template", "src/policy/x.ts", "export const a = `import '../cli/main.ts'`;"],
    ["a lower layer", "src/sandbox/x.ts", `import type { Engine } from "../engines/engine.ts";`],
    ["the shared adapter", "src/engines/podman/x.ts", `import { a } from "../docker-api/y.ts";`],
    ["an engine in the engine table", "src/engines/engine-table.ts", `export const a = () => import("./local/y.ts");`],
    ["the environment in config", "src/config/x.ts", "export const a = process.env.HOME;"],
    ["a process of ours", "src/sandbox/x.ts", "export const a = ({ process }: B) => process.exit;"],
    ["a date from a number", "src/sandbox/x.ts", "export const a = (ms: number) => new Date(ms);"],
    ["a fixture in a test", "src/policy/x.test.ts", `import { a } from "../../test/fixtures/a.ts";`],
    ["vitest in a test", "src/policy/x.test.ts", `import { it } from "vitest"; import { a } from "node:fs";`],
  ])("%s", (_, path, text) => {
    expect(violationsOf(path, text)).toEqual([]);
  });
});

describe("circles of imports", () => {
  const graph = readImportGraph(sources);
  const planted = (files: Readonly<Record<string, string>>): readonly string[] =>
    findCircles(new Map([...graph, ...readImportGraph(new Map(Object.entries(files)))]));

  it("do not exist in the sources, not even type-only ones", () => {
    expect(findCircles(graph)).toEqual([]);
    const found = [...graph.values()].flat().filter((path) => !graph.has(path) && !path.startsWith("test/"));
    expect(found, "every import was followed").toEqual([]);
  });

  it.each([
    ["of values", `export { b } from "./planted-b.ts";`, `export { a } from "./planted-a.ts";`],
    ["of types alone", `import type { B } from "./planted-b.ts";`, `import type { A } from "./planted-a.ts";`],
    ["of a type and a value", `import type { B } from "./planted-b.ts";`, `export { a } from "./planted-a.ts";`],
    ["by a type expression", `export type A = import("./planted-b.ts").B;`, `import type { A } from "./planted-a.ts";`],
    ["by an import on use", `export const a = () => import("./planted-b.ts");`, `import "./planted-a.ts";`],
  ])("%s are found among all the sources", (_, a, b) => {
    expect(planted({ "src/base/planted-a.ts": a, "src/base/planted-b.ts": b })).toEqual([
      "src/base/planted-a.ts -> src/base/planted-b.ts -> src/base/planted-a.ts",
    ]);
  });

  it("through other folders, and of one file with itself, are found", () => {
    const long = {
      "src/base/x/planted-a.ts": `import type { C } from "../../policy/planted-c.ts";`,
      "src/policy/planted-c.ts": `import type { B } from "../base/planted-b.ts";`,
      "src/base/planted-b.ts": `import type { A } from "./x/planted-a.ts";`,
    };
    expect(planted(long)).toEqual([expect.stringMatching(/planted-b.*planted-a.*planted-c.*planted-b/)]);
    expect(planted({ "src/base/planted.ts": `import type { A } from "./planted.ts";` })).toHaveLength(1);
  });

  it("do not include what is merely reached twice", () => {
    const files = {
      "src/base/planted-a.ts": `import "./planted-b.ts"; import "./planted-c.ts";`,
      "src/base/planted-b.ts": `import "./planted-c.ts";`,
      "src/base/planted-c.ts": `// import "./planted-a.ts";`,
    };
    expect(planted(files)).toEqual([]);
  });
});

describe("files that a module names by its own place", () => {
  it("exist: processes of ours, images, and what is read from them", () => {
    const named = [...sources].flatMap(([file, text]) =>
      [...text.matchAll(/new URL\(([^;]*?),\s*import\.meta\.url\)/g)].flatMap(([, given = ""]) =>
        [...given.matchAll(/["`](\.{1,2}\/[^"`$]*)/g)].map(([, relative = ""]) => ({ file, relative })),
      ),
    );
    expect(named.length).toBeGreaterThan(30);
    // In the package a `.js` stands where its source does; of a template its folder is known.
    const isThere = ({ file, relative }: { readonly file: string; readonly relative: string }): boolean => {
      const folder = relative.slice(0, relative.lastIndexOf("/") + 1);
      return [relative, relative.replace(/\.js$/, ".ts"), folder].some(
        (name) => (name !== folder || !/\.\w+$/.test(relative)) && existsSync(new URL(`${file}/../${name}`, root)),
      );
    };
    expect(named.filter((each) => !isThere(each))).toEqual([
      // Built for the package alone.
      { file: "src/workloads/agent/agent-files.ts", relative: "../../agent-runner/index.js" },
    ]);
  });
});

describe("docs/architecture.md", () => {
  const text = readFileSync(new URL("docs/architecture.md", root), "utf8");
  const rooms = new Set(paths.flatMap((path) => /^src\/[^/]+(?=\/)/.exec(path)?.[0] ?? []));
  const exists = (path: string): boolean => existsSync(new URL(path, root));

  it("has a row for each room of the sources, and names only what exists", () => {
    expect(pageProblems(text, rooms, exists)).toEqual([]);
    expect(rooms.size).toBeGreaterThan(20);
  });

  it("can be read at one sitting", () => {
    expect(text.split("\n").length).toBeLessThanOrEqual(150);
  });

  it.each([
    ["a room without a row", "| `src/policy` | what |", ["src/base has no row"]],
    ["a room that is gone", "| `src/base` | what |\n| `src/gone` | what |", ["src/gone does not exist"]],
    ["a start that is gone", "| `src/base` | what | `src/base/gone.ts` |", ["src/base/gone.ts does not exist"]],
  ])("does not bear %s", (_, page, problems) => {
    expect(pageProblems(page, new Set(["src/base"]), exists)).toEqual(problems);
  });
});
