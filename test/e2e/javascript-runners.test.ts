import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { engines, useGlovebox, type TestedEngine } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { copyPackages } from "../helpers/runner-packages.ts";

/** Each runner: how it is started here, its packages, and what its own report (`--json`) counts for its fixture. */
const runners = {
  // Through a script, through npx, and directly.
  jest: {
    line: "npm run --silent jest -- --coverage",
    packages: ["jest"],
    counts: { passed: 4, failed: 2, skipped: 1, todo: 1, error: 1 },
  },
  vitest: {
    line: "npx vitest run --root vitest",
    packages: ["vitest", "vite"],
    counts: { passed: 4, failed: 2, skipped: 1, todo: 1, error: 1 },
  },
  mocha: {
    line: "node_modules/.bin/mocha mocha/test",
    packages: ["mocha"],
    counts: { passed: 4, failed: 2, skipped: 2 },
  },
} as const;
type Runner = keyof typeof runners;

/** Vitest needs a newer Node than hosts have; the others do not depend on the engine. */
const tried: Readonly<Record<TestedEngine, readonly Runner[]>> = {
  docker: ["jest", "vitest", "mocha"],
  podman: ["mocha"],
  local: ["jest", "mocha"],
};
const oddNames = ["takes <script>alert('日é')</script>\u001b[1m", "takes 2", "takes <b>&\"'\u0007"];

interface Ctrf {
  readonly results: {
    readonly tests: readonly { readonly name: string; readonly rawStatus: string; readonly filePath?: string }[];
  };
}

describe.each(engines)("test runners of JavaScript on %s", (engine) => {
  const names = tried[engine];
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-runners-")));
  afterAll(() => rmSync(folder, { recursive: true }));
  const glovebox = useGlovebox(engine, { workingDirectory: folder });
  beforeAll(() => {
    for (const runner of names) {
      const from = path.join(projectFolder, "test/fixtures/test-projects", runner);
      cpSync(from, path.join(folder, runner), { recursive: true });
    }
    copyPackages(
      names.flatMap((name) => runners[name].packages),
      folder,
    );
    writeFileSync(path.join(folder, "package.json"), JSON.stringify({ scripts: { jest: "jest --rootDir jest" } }));
  });

  it("are counted as their own reports count, one after another", async () => {
    const response = await glovebox().test({
      project_path: folder,
      test_command: names.map((name) => runners[name].line).join("; "),
      include_ignored: true,
      reports: ["ctrf", "junit"],
    });
    expect(response, response.output).toMatchObject({
      verdict: "failed",
      counted_from: "report",
      runners: names,
    });
    const { tests } = (JSON.parse(response.report?.ctrf ?? "") as Ctrf).results;
    for (const runner of names) {
      const own = tests.filter(({ filePath }) => filePath?.startsWith(`${runner}/`));
      const found = Object.entries(Object.groupBy(own, ({ rawStatus }) => rawStatus));
      expect(Object.fromEntries(found.map(([status, all]) => [status, all?.length])), runner).toEqual(
        runners[runner].counts,
      );
      expect(own.map(({ name }) => name)).toEqual(expect.arrayContaining(oddNames));
      // The second and third runner's have a number.
      const failure = response.failures.find(
        ({ file, name }) => file?.startsWith(`${runner}/`) && /^fails(?: #\d)?$/.test(name),
      );
      expect(failure?.line, runner).toBeGreaterThan(1);
      expect(failure?.details, runner).toMatch(/actual[^]*expected|expected[^]*actual/i);
    }
    // One line of two, as in Jest's own table.
    expect(response.coverage).toBe(names.some((name) => name === "jest") ? 50 : undefined);
    expect(response.report?.junit).toContain("&lt;script&gt;");
  });

  it.runIf(engine === "docker")("run those tests only that a request names", async () => {
    const response = await glovebox().test({
      project_path: folder,
      test_command: names.map((name) => runners[name].line).join("; "),
      include_ignored: true,
      only_tests: ["fails", "a suite > takes <b>&\"'\u0007"],
    });
    const each = names.length;
    // Files that cannot be loaded have no tests to name.
    expect(response, response.output).toMatchObject({ verdict: "failed", passed: each, failed: each, errors: 2 });
  });
});
