import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectMcp, revisions } from "../helpers/mcp-client.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { runCommand, type CommandResult } from "../helpers/run-command.ts";

describe("a project's tests at the doors", () => {
  useGlovebox("local");
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-command-")));
    writeFileSync(path.join(folder, "passes.js"), 'require("node:test").test("adds", () => undefined);');
    writeFileSync(
      path.join(folder, "fails.js"),
      'require("node:test").test("subtracts", () => require("node:assert").equal(3, 2));',
    );
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const glovebox = (...argv: readonly string[]): Promise<CommandResult> =>
    runCommand(["test", "--engine", "local", ...argv], { cwd: folder });

  it("glovebox test shows what the tests print and says the verdict, which its exit code is", async () => {
    const passed = await glovebox(".", "--", "node", "passes.js");
    expect(passed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("adds") });
    expect(passed.stderr).toMatch(/glovebox: passed: .*1 passed/);
    const idle = await glovebox(".", "--", "true");
    expect(idle).toMatchObject({ exitCode: 125, stderr: expect.stringContaining("glovebox: could_not_run: ") });
  });

  it("glovebox test needs neither a folder nor a command, and says what it ran and why", async () => {
    const unknown = await glovebox();
    expect(unknown).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("script `test` in package.json") });
    const manifest = { scripts: { test: "node passes.js" }, devDependencies: { none: "1" } };
    writeFileSync(path.join(folder, "package.json"), JSON.stringify(manifest));
    const found = await glovebox();
    expect(found, found.stderr).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("adds") });
    expect(found.stderr).toContain("this ran `npm test`: package.json has a script `test`: node passes.js");
    expect(found.stderr).toMatch(/there is no lockfile.*--setup/);
    const json = await glovebox("--json", "--", "node passes.js");
    expect(JSON.parse(json.stdout)).toMatchObject({ verdict: "passed", test_command: "node passes.js" });
  });

  it("glovebox test gives the answer as JSON and the whole report as files", async () => {
    const files = ["--junit", path.join(folder, "report.xml"), "--ctrf", path.join(folder, "report.json")];
    const { exitCode, stdout } = await glovebox(".", "--json", ...files, "--", "node passes.js && node fails.js");
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: "failed", passed: 1, failed: 1, counted: true });
    expect(readFileSync(path.join(folder, "report.xml"), "utf8")).toContain("subtracts");
    expect(JSON.parse(readFileSync(path.join(folder, "report.json"), "utf8"))).toMatchObject({
      results: { summary: { tests: 2, passed: 1, failed: 1 } },
    });
  });

  it("run_tests answers over MCP with the counts and what failed", async () => {
    const connection = await connectMcp(revisions[0], ["--engine", "local", "--tools", "test"], {
      GLOVEBOX_PROJECT_ROOTS: folder,
    });
    const { structuredContent } = await connection.call("run_tests", {
      project_path: folder,
      test_command: "node fails.js",
    });
    expect(structuredContent).toMatchObject({ verdict: "failed", failed: 1, failures: [{ name: "subtracts" }] });
    await connection.client.close();
  });
});
