// Each gate must prove that it looked: one that reads nothing is always green.
import { globSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { lintSamples } from "./gates/lint-samples.ts";
import { PlantedProject, runTool, type ToolRun } from "./gates/planted-project.ts";
import { projectFolder } from "./helpers/project-folder.ts";

const plantedFile = (rule: string): string => `src/base/planted-${rule.replaceAll(/[^a-z]+/g, "-")}x.ts`;
const sources = globSync("{src,test,scripts}/**/*.ts", { cwd: projectFolder }).map((path) =>
  path.replaceAll("\\", "/"),
);

let project: PlantedProject;

beforeAll(() => {
  project = new PlantedProject({
    ...Object.fromEntries(Object.entries(lintSamples).map(([rule, text]) => [plantedFile(rule), text])),
    "src/base/PlantedCase.ts": "export const a = 1;\n",
    "src/base/planted-cycle-a.ts": `export { b } from "./planted-cycle-b.ts";\nexport const a = 1;\n`,
    "src/base/planted-cycle-b.ts": `export { a } from "./planted-cycle-a.ts";\nexport const b = 1;\n`,
    "src/base/planted.test.ts": `import { expect, it } from "vitest";\n\nit.only("x", () => expect(1).toBe(1));\n`,
    "src/base/planted-directive.ts": `// oxlint-disable-next-line no-console\nexport const a = 1;\n`,
    "src/base/planted-type.ts": `export const a: number = "text";\n`,
    "src/base/planted-enum.ts": "export enum A {\n  B,\n}\n",
    "test/planted.test.ts": `import "nobody-installed-this";\n`,
    "test/planted-type.ts": `export const a: number = "text";\n`,
    "test/planted-format.ts": "export const a   =   1\n",
  });
  return () => project[Symbol.dispose]();
});

describe("the linter", () => {
  interface LintReport {
    readonly number_of_files: number;
    readonly diagnostics: readonly { readonly code: string; readonly filename: string }[];
  }
  let exitCode: number | null;
  let report: LintReport;

  beforeAll(() => {
    const run = project.run("oxlint", ["-f", "json"]);
    exitCode = run.exitCode;
    report = JSON.parse(run.stdout) as LintReport;
  });

  it("fails and has read every source", () => {
    expect(exitCode).toBe(1);
    expect(sources.length).toBeGreaterThan(20);
    expect(report.number_of_files).toBeGreaterThan(sources.length);
  });

  it.each([
    ...Object.keys(lintSamples).map((rule) => ({ rule, file: plantedFile(rule) })),
    { rule: "unicorn(filename-case)", file: "src/base/PlantedCase.ts" },
    { rule: "import(no-cycle)", file: "src/base/planted-cycle-a.ts" },
    { rule: "vitest(no-focused-tests)", file: "src/base/planted.test.ts" },
  ])("finds $rule", ({ rule, file }) => {
    expect(report.diagnostics).toContainEqual(expect.objectContaining({ code: rule, filename: file }));
  });

  it("finds a directive that silences nothing", () => {
    expect(report.diagnostics.map((one) => one.filename)).toContain("src/base/planted-directive.ts");
  });
});

describe("the compiler", () => {
  let run: ToolRun;

  beforeAll(() => {
    run = project.run("tsc", ["-p", "tsconfig.json", "--pretty", "false"]);
  });

  it.each([
    ["a wrong type in src", /src\/base\/planted-type\.ts.*TS2322/],
    ["a wrong type in test", /test\/planted-type\.ts.*TS2322/],
    ["syntax that cannot be erased", /src\/base\/planted-enum\.ts.*TS1294/],
  ])("finds %s", (_, expected) => {
    expect(run.exitCode).not.toBe(0);
    expect(run.stdout).toMatch(expected);
  });

  it("reads every source", () => {
    // The console uses browser types.
    const listed = ["tsconfig.json", "src/console/tsconfig.json"].flatMap((file) =>
      runTool(projectFolder, "tsc", ["-p", file, "--listFilesOnly"]).stdout.split(/\r?\n/),
    );
    const read = new Set(listed.map((path) => path.slice(projectFolder.length).replaceAll("\\", "/")));
    expect(sources.filter((path) => !read.has(path))).toEqual([]);
  });
});

describe("the formatter", () => {
  let run: ToolRun;

  beforeAll(() => {
    run = project.run("oxfmt", ["--check"]);
  });

  it("finds a file that is not in form", () => {
    expect(run.exitCode).toBe(1);
    expect(run.stdout + run.stderr).toContain("test/planted-format.ts");
  });

  it("reads every source", () => {
    const count = /on (\d+) files/.exec(run.stdout + run.stderr)?.[1];
    expect(Number(count)).toBeGreaterThan(sources.length);
  });
});

describe("the search for unused things", () => {
  let run: ToolRun;

  beforeAll(() => {
    run = project.run("knip", ["--no-progress"]);
  });

  it.each([
    ["a file that nothing imports", /Unused files[\s\S]*src\/base\/planted-type\.ts/],
    ["a package that is not listed", /Unlisted dependencies[\s\S]*nobody-installed-this/],
  ])("finds %s", (_, expected) => {
    expect(run.exitCode).toBe(1);
    expect(run.stdout).toMatch(expected);
  });
});
