import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { beginReporting, reportsFolder } from "../../src/workloads/tests/command-variables.ts";
import { textKeys, toolLines, verifiedText } from "../../src/workloads/tests/test-phase.ts";
import { summariseReports } from "../../src/workloads/tests/report/summarise-reports.ts";
import { projectFolder } from "../helpers/project-folder.ts";

interface Started {
  readonly exitCode: number;
  readonly stdout: string;
  readonly report: Uint8Array | null;
}

/** The line with which a sandbox starts such a tool, run on this machine, which has them. */
function start(
  tool: string,
  line: string,
  { reports, project }: Record<"reports" | "project", string>,
): Promise<Started> {
  const begin = beginReporting.replace(reportsFolder, reports);
  const env = { ...process.env, GLOVEBOX_TEST_REPORTS: reports };
  return new Promise((resolve) => {
    execFile("sh", ["-c", `${begin}${line}`], { cwd: project, env }, (error, stdout) => {
      const own = textKeys("first seed").filter((key) => key.tool === tool);
      const left = own.find(({ file }) => readdirSync(reports).includes(file));
      const bytes = left === undefined ? null : readFileSync(path.join(reports, left.file));
      const report = left === undefined || bytes === null ? null : verifiedText(bytes, left.key);
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, report });
    });
  });
}

describe("what Go and Cargo print", () => {
  let folder: string;
  let places: Record<"reports" | "project", string>;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-tools-")));
    places = { reports: path.join(folder, "reports"), project: path.join(folder, "project") };
    cpSync(path.join(projectFolder, "images/reporters"), places.reports, { recursive: true });
    writeFileSync(path.join(places.reports, "shell-seed"), "first seed");
    writeFileSync(path.join(places.reports, "tools"), toolLines());
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const run = async (tool: string, line: string) => {
    cpSync(path.join(projectFolder, "test/fixtures/test-projects", tool), places.project, { recursive: true });
    const { report, ...ended } = await start(tool, line, places);
    const header = { folder: places.project, wanted: { ctrf: true, junit: false }, startMs: 0, stopMs: 1 };
    const reports = [{ format: tool, sizeBytes: report?.length ?? 0 }];
    const { summary, ctrf } = summariseReports({ ...header, reports }, [Buffer.from(report ?? []).toString("utf8")]);
    return { ...ended, ...summary, ctrf };
  };

  const has = (tool: string): boolean => {
    try {
      execFileSync(tool, [tool === "go" ? "version" : "--version"], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  };

  it.skipIf(!has("go"))(
    "counts go test behind a chain, with what was not built, and shows it without frames",
    async () => {
      const { exitCode, stdout, runs, failures, ctrf } = await run("go", "true && go test ./...");
      expect(exitCode).toBe(1);
      expect(runs).toEqual([
        { runner: "go", counts: { passed: 4, failed: 1, skipped: 1, todo: 0, other: 0, error: 1 }, unfinished: [] },
      ]);
      expect(failures).toContainEqual({
        name: "example.com/shop > TestFails",
        file: "kinds_test.go",
        line: 8,
        message: 'got "actual", want "expected"',
        details: 'kinds_test.go:8: got "actual", want "expected"',
      });
      const unbuilt = failures.find(({ name }) => name === "example.com/shop/cart");
      expect(unbuilt).toMatchObject({
        file: "cart/cart_test.go",
        line: 7,
        message: expect.stringContaining("undefined: nowhere"),
      });
      expect(ctrf).toContain(JSON.stringify("TestTakes/<script>'\"日\\x1b"));
      expect(stdout).toContain('kinds_test.go:5: said <b>&"\\ \u001b[1m 日\n');
      expect(stdout).not.toMatch(/=== RUN|--- PASS|"Action"|[0-9a-f]{64}/);
    },
  );

  it.skipIf(!has("cargo"))("counts cargo test by its text, of which no test makes a part", async () => {
    const { exitCode, stdout, runs, failures } = await run("cargo", "cargo --offline test");
    expect(exitCode).toBe(101);
    expect(runs).toEqual([
      { runner: "cargo", counts: { passed: 2, failed: 1, skipped: 1, todo: 0, other: 0, error: 0 }, unfinished: [] },
    ]);
    expect(failures).toMatchObject([
      { name: "tests::fails", file: "src/lib.rs", line: 20, message: "assertion `left == right` failed" },
    ]);
    expect(failures[0]?.details).toMatch(/left: "actual"[^]*right: "expected"/);
    expect(stdout).toContain("test tests::passes ... ok\n");
    expect(stdout).not.toMatch(/[0-9a-f]{64}/);
  });

  it.skipIf(!has("cargo"))("is of the tests that a variable names", async () => {
    const { runs } = await run("cargo", "GLOVEBOX_TEST_ONLY_CARGO=tests::fails cargo test --offline");
    expect(runs).toMatchObject([{ counts: { passed: 0, failed: 1, skipped: 0 } }]);
  });

  it.skipIf(!has("cargo"))("is left alone where it is of no test run", async () => {
    cpSync(path.join(projectFolder, "test/fixtures/test-projects/cargo"), places.project, { recursive: true });
    const { exitCode, stdout, report } = await start("cargo", "cargo --version", places);
    expect([exitCode, stdout.startsWith("cargo "), report]).toEqual([0, true, null]);
    expect(readFileSync(path.join(places.reports, "shell-seed"), "utf8")).toBe("first seed");
  });
});
