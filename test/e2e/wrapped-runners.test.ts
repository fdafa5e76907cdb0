import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useGlovebox, type TestedEngine } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { sessionImages } from "../helpers/test-images.ts";

/** What the fixtures' own runners count. */
const nodeCounts = { passed: 4, failed: 3, skipped: 1, todo: 1, errors: 0 };
const pytestCounts = { passed: 4, failed: 1, skipped: 1, other: 1, errors: 2 };
const times = (factor: number, counts: Readonly<Record<string, number>>): object =>
  Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count * factor]));

function useFixture(engine: TestedEngine, name: string) {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-wrapped-")));
  const project = path.join(folder, name);
  beforeAll(() => cpSync(path.join(projectFolder, "test/fixtures/test-projects", name), project, { recursive: true }));
  afterAll(() => rmSync(folder, { recursive: true }));
  return { project, glovebox: useGlovebox(engine, { workingDirectory: folder, settings: { images: sessionImages } }) };
}

/** Fetches something with this machine's own tool, which knows its registry; null if that does not work. */
function fetched(folder: string, command: string, values: readonly string[], ending: string): readonly string[] | null {
  try {
    execFileSync(command, values, { cwd: folder, stdio: "ignore", timeout: 120_000 });
    return readdirSync(folder).filter((file) => file.endsWith(ending));
  } catch {
    return null;
  }
}

describe.each(["docker", "local"] as const)("runners of JavaScript on %s that others start", (engine) => {
  const { project, glovebox } = useFixture(engine, "node-test");

  it("are counted behind make", async (context) => {
    writeFileSync(path.join(project, "Makefile"), "test:\n\tnode --test\n");
    const request = { project_path: project, setup_command: "" };
    const response = await glovebox().test({ ...request, test_command: "command -v make || exit 99; make test" });
    if (response.exit_code === 99) context.skip(`there is no make on engine ${engine}`);
    // make has a special exit code for a recipe that failed.
    expect(response, response.output).toMatchObject({
      verdict: "failed",
      exit_code: 2,
      runners: ["node:test"],
      ...nodeCounts,
    });
  });

  it("are counted behind pnpm and Yarn", async (context) => {
    const tools = fetched(project, "npm", ["pack", "--silent", "pnpm@9.15.9", "yarn@1.22.22"], ".tgz");
    if (tools?.length !== 2) return context.skip("this machine's npm registry does not answer");
    const response = await glovebox().test({
      project_path: project,
      setup_command: `npm install --global --offline ${tools.map((file) => `./${file}`).join(" ")}`,
      test_command: "pnpm test; yarn test; pnpm exec node --test; yarn run --silent test",
    });
    expect(response, response.output).toMatchObject({
      verdict: "failed",
      counted_from: "report",
      ...times(4, nodeCounts),
    });
  });
});

describe.each(["docker"] as const)("runners of Python on %s that others start", (engine) => {
  const { project, glovebox } = useFixture(engine, "pytest");

  it("are counted behind uv", async (context) => {
    const [wheel] = fetched(project, "python3", ["-m", "pip", "download", "uv", "--no-deps", "--quiet"], ".whl") ?? [];
    if (wheel === undefined) return context.skip("this machine's pip has no uv to give");
    writeFileSync(
      path.join(project, "pyproject.toml"),
      '[project]\nname = "p"\nversion = "1"\nrequires-python = ">=3.9"\n',
    );
    const response = await glovebox().test({
      project_path: project,
      setup_command: `pip install --no-index ./${wheel} && uv venv --offline --system-site-packages`,
      test_command: [
        "uv run --offline --no-sync pytest --continue-on-collection-errors",
        "uv run --offline --no-sync python -m pytest --continue-on-collection-errors",
      ].join("; "),
    });
    expect(response, response.output).toMatchObject({
      verdict: "failed",
      runners: ["pytest"],
      ...times(2, pytestCounts),
    });
  });
});

describe.each(["docker"] as const)("runners on %s whose command sets variables itself", (engine) => {
  const { project, glovebox } = useFixture(engine, "variables");
  const test = (test_command: string, image?: string) =>
    glovebox().test({
      project_path: project,
      setup_command: "",
      test_command,
      ...(image === undefined ? {} : { image }),
    });

  it("are counted, and run unharmed where nothing of ours reaches them", async () => {
    const line = [
      "PYTHONPATH=src python3 -m pytest -q tests",
      "export PYTHONPATH=$PWD/src; pytest -q tests",
      "PYTHONPATH=src python3 -m unittest -q tests/test_b.py",
    ].join(" && ");
    const python = await test(line, sessionImages.python);
    expect(python, python.output).toMatchObject({ verdict: "passed", passed: 5, counted_from: "report" });
    const node = await test("NODE_OPTIONS=--no-warnings node --test a.test.mjs");
    expect(node, node.output).toMatchObject({ verdict: "passed", passed: 1 });
    const isolated = await test("python3 -I -m pytest -q tests/test_b.py", sessionImages.python);
    expect(isolated, isolated.output).toMatchObject({ verdict: "could_not_run", exit_code: 0 });
    expect(isolated.reason).toContain("pytest told of no tests");
    expect(isolated.output).not.toContain("glovebox");
  });
});
