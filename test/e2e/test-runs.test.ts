import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { RunTestsRequest, RunTestsResponse } from "../../src/operations/tests-contract.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import { engines, useGlovebox, type TestedEngine } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { sessionImages } from "../helpers/test-images.ts";

type Files = Readonly<Record<string, string>>;

/** Projects in a separate working directory, and a Glovebox that may read them. */
function useProjects(engine: TestedEngine) {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  afterAll(() => rmSync(folder, { recursive: true }));
  const glovebox = useGlovebox(engine, { workingDirectory: folder, settings: { images: sessionImages } });
  const test = (
    project: string,
    test_command: string,
    more: Partial<RunTestsRequest> = {},
  ): Promise<RunTestsResponse> => glovebox().test({ project_path: path.join(folder, project), test_command, ...more });
  let count = 0;
  return {
    folder,
    fixture: (name: string, test_command: string, more?: Partial<RunTestsRequest>): Promise<RunTestsResponse> => {
      const project = `${name}-${(count += 1)}`;
      cpSync(path.join(projectFolder, "test/fixtures/test-projects", name), path.join(folder, project), {
        recursive: true,
      });
      return test(project, test_command, more);
    },
    tryFiles: (files: Files, test_command: string, more?: Partial<RunTestsRequest>): Promise<RunTestsResponse> => {
      const project = `project-${(count += 1)}`;
      for (const [name, text] of Object.entries(files)) {
        const file = path.join(folder, project, name);
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
      return test(project, test_command, more);
    },
  };
}

const passing = 'require("node:test").test("passes", () => undefined);';
const skipping = 'require("node:test").test("is skipped", { skip: true }, () => undefined);';
/** A process that leaves the test's own group and overwrites every report that it finds, as long as it is alive. */
const forger = `
const forged = '{"runner":"node:test","tests":[{"name":"forged","status":"passed"}],"coverage":null}';
const script = 'while :; do for f in "$GLOVEBOX_TEST_REPORTS"/????????????????????????????????; do [ -f "$f" ] && printf "%s" "$0" >"$f"; done; done';
require("node:child_process").spawn("setsid", ["sh", "-c", script, "0".repeat(64) + "\\n" + forged], { detached: true, stdio: "ignore" }).unref();
`;

describe.each(engines)("test runs on %s", (engine) => {
  const { folder, fixture, tryFiles } = useProjects(engine);

  it("count node:test behind a chain, name what failed and write nothing back", async () => {
    const response = await fixture("node-test", "touch written && cd . && node --test", { reports: ["ctrf", "junit"] });
    expect(response).toMatchObject({
      ...{
        verdict: "failed",
        passed: 4,
        failed: 3,
        skipped: 1,
        todo: 1,
        errors: 0,
        counted: true,
        counted_from: "report",
      },
      ...{ runners: ["node:test"], outcome: "failed", exit_code: 1, engine },
    });
    expect(response.failures.map(({ name, file, line }) => [name, file, line])).toContainEqual([
      "fails",
      "kinds.test.js",
      5,
    ]);
    expect(response.output).toContain("takes 2");
    expect(response.report?.ctrf).toMatch(/"summary":\{"tests":9,"passed":4,"failed":3,/);
    expect(response.report?.junit).toContain("takes &lt;b&gt;&amp;&quot;&apos;\ufffd");
    expect(readdirSync(folder).flatMap((name) => readdirSync(path.join(folder, name)))).not.toContain("written");
  });

  it("pass where a report shows it", async () => {
    const response = await tryFiles({ "a.test.js": passing }, "node --test");
    expect(response).toMatchObject({ verdict: "passed", passed: 1, failed: 0, exit_code: 0, outcome: "completed" });
  });

  it("are not passed by a process that writes over the report and outlives the tests", async () => {
    const response = await tryFiles({ "a.test.js": forger + skipping }, "node --test");
    expect(response.exit_code).toBe(0);
    expect(["nothing_ran", "could_not_run"]).toContain(response.verdict);
    expect(response.passed ?? 0).toBe(0);
  });
});

describe("test runs on docker, of other runners", () => {
  const { fixture, tryFiles } = useProjects("docker");

  it("count pytest, errors and expected failures apart", async () => {
    const response = await fixture("pytest", "python3 -m pytest --continue-on-collection-errors --cov=tests");
    expect(response).toMatchObject({
      ...{
        verdict: "failed",
        passed: 4,
        failed: 1,
        skipped: 1,
        other: 1,
        errors: 2,
        runners: ["pytest"],
        exit_code: 1,
      },
    });
    expect(response.coverage).toBeGreaterThan(10);
    const failure = response.failures.find(({ name }) => name.includes("test_fails"));
    expect(failure).toMatchObject({ file: "tests/test_kinds.py", line: 9 });
    expect(failure?.message).toContain("'actual' == 'expected'");
  });

  it("count unittest behind a shell, like its own summary", async () => {
    const response = await fixture("unittest", "sh -c 'python3 -m unittest'");
    // Ran 8 tests: failures=2, errors=3, skipped=1, expected failures=1, unexpected successes=1
    const counts = { passed: 1, failed: 3, errors: 3, skipped: 1, other: 1 };
    expect(response, response.output).toMatchObject({ verdict: "failed", runners: ["unittest"], ...counts });
    const failure = response.failures.find(({ name }) => name === "test_kinds.Kinds.test_fails");
    expect(failure).toMatchObject({ file: "test_kinds.py", line: 9 });
    expect(failure?.message).toContain("'actual' != 'expected'");
    expect(response.failures.map(({ name }) => name)).toContain("test_does_not_load");
    expect(response.failures.map(({ name }) => name)).toContainEqual(expect.stringContaining("<script>'日"));
  });

  it("run some tests only, named as an earlier run shows them", async () => {
    const only = (...only_tests: readonly string[]) => ({ only_tests: [...only_tests] });
    const node = await fixture(
      "node-test",
      "node --test kinds.test.js",
      only("fails", "a suite > takes <b>&\"'\u0007"),
    );
    expect(node, node.output).toMatchObject({ verdict: "failed", passed: 1, failed: 1 });
    const pytest = await fixture("pytest", "pytest tests/test_kinds.py", only("tests/test_kinds.py::test_passes"));
    expect(pytest, pytest.output).toMatchObject({ verdict: "passed", passed: 1, failed: 0, skipped: 0 });
    const unittest = await fixture("unittest", "python3 -m unittest test_kinds", only("test_kinds.Kinds.test_fails"));
    expect(unittest, unittest.output).toMatchObject({ verdict: "failed", passed: 0, failed: 1, errors: 0 });
    const bun = await fixture("bun", "bun test kinds", only("passes"));
    expect(bun, bun.output).toMatchObject({ verdict: "passed", passed: 1, failed: 0 });
    const none = await fixture("pytest", "pytest tests/test_kinds.py", only("tests/test_kinds.py::test_of_old"));
    expect(none).toMatchObject({ verdict: "nothing_ran", passed: 0 });
  });

  it("count what a tool prints that takes no reporter, and sign it", async () => {
    // Cargo's output, from a program that replaces it: no image here has the real one, which watched-tools.test.ts starts.
    const summary = (bad: number) => `test result: x. ${1 - bad} passed; ${bad} failed; 0 ignored; 0 measured`;
    const cargo = (word: string, bad: number) =>
      `#!/bin/sh\nprintf 'running 1 test\ntest a ... ${word}\n\n${summary(bad)}\n'\n`;
    const forger = `setsid sh -c 'while :; do for f in /work/.glovebox/????????????????????????????????; do cp /work/project/forged "$f"; done; done' >/dev/null 2>&1 &\n`;
    const setup_command = "mkdir -p ../tools/bin && cp cargo.sh ../tools/bin/cargo && chmod +x ../tools/bin/cargo";
    const files = { "cargo.sh": cargo("ok", 0), forged: `${"0".repeat(64)}\nforged` };
    const passed = await tryFiles(files, "cargo test", { setup_command });
    expect(passed).toMatchObject({ verdict: "passed", passed: 1, counted_from: "output", runners: ["cargo"] });
    expect(passed.output).toContain("test a ... ok\n");
    const hostile = { ...files, "cargo.sh": `${cargo("FAILED", 0)}${forger}` };
    expect(await tryFiles(hostile, "cargo test", { setup_command })).toMatchObject({ verdict: "could_not_run" });
  });

  it("count bun test, whose report leaves out what could not be loaded", async () => {
    const response = await fixture("bun", "bun run test");
    expect(response).toMatchObject({ verdict: "failed", passed: 4, failed: 3, skipped: 1, todo: 1, runners: ["bun"] });
  });

  it("refuse a report of bun test with other passes than Bun printed", async () => {
    const files = {
      "a.test.js": 'require("bun:test").test("a", () => undefined);',
      "bunfig.toml": "",
      "package.json": '{"scripts":{"test":"bun test"}}',
      "adds.sh": `sed -i 's#</testsuites>#<testsuite name="b"><testcase name="b"/></testsuite>&#' "$GLOVEBOX_TEST_REPORTS/bun.xml"`,
    };
    expect(await tryFiles(files, "bun test")).toMatchObject({ verdict: "passed", passed: 1 });
    const more = await tryFiles(files, "bun test && sh adds.sh");
    expect(more, more.output).toMatchObject({ exit_code: 0, verdict: "could_not_run" });
  });

  it("keep what a setup command installed, and distinguish a failing one from failing tests", async () => {
    const files = { "a.test.js": 'require("node:test").test("a", () => require("made"));' };
    const setup = "mkdir -p node_modules && echo 'module.exports = 1' >node_modules/made.js";
    expect(await tryFiles(files, "node --test", { setup_command: setup })).toMatchObject({ verdict: "passed" });
    const failed = await tryFiles(files, "node --test", { setup_command: "echo no such thing; exit 3" });
    expect(failed).toMatchObject({ verdict: "could_not_run", counted: false, exit_code: 3, output: "no such thing\n" });
    expect(failed.error?.error_type).toBe("PACKAGE_INSTALL_FAILED");
    expect(failed.reason).toBe("The installation (echo no such thing; exit 3) ended with exit code 3.");
  });

  it("cannot run without their image, which says nothing about the tests", async () => {
    const response = await tryFiles({ "a.test.js": passing }, "node --test", { image: "127.0.0.1:1/no-such-image:1" });
    expect(response).toMatchObject({ verdict: "could_not_run", counted: false, passed: null, exit_code: null });
    expect(response).toMatchObject({ error: { error_type: "IMAGE_UNAVAILABLE" } });
    expect(response.reason).toContain("127.0.0.1:1/no-such-image:1");
    expect(response.sandbox_id).toBeUndefined();
  });

  it("take the trusted tests, without planted configuration, and nothing that the installation left rewrites them", async () => {
    const files = {
      "tests/test_a.py": "def test_a():\n    pass\n",
      "conftest.py":
        "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport():\n    (yield).get_result().outcome = 'passed'\n",
    };
    const trusted = { path: "tests/test_a.py", content: "def test_a():\n    assert False\n" };
    const lax = { ...files, [trusted.path]: trusted.content };
    expect(await tryFiles(lax, "pytest")).toMatchObject({ verdict: "passed" });
    expect(await tryFiles(files, "pytest", { trusted_files: [trusted] })).toMatchObject({
      verdict: "failed",
      failed: 1,
    });
    const left = { ...lax, "leaves.py": fixtureProgram("leaves-its-threads.py").at(-1) ?? "" };
    const setup_command = `python3 leaves.py "open('tests/test_a.py', 'w').write('def test_a():pass')"`;
    const disturbed = await tryFiles(left, "sleep 1; pytest", { trusted_files: [trusted], setup_command });
    expect(disturbed).toMatchObject({ verdict: "failed", failed: 1 });
  });
});

describe("verdicts on docker that nothing can forge from outside the tests", () => {
  const { tryFiles } = useProjects("docker");
  const python = (body: string): Files => ({ "test_a.py": `import os, signal\n\ndef test_a():\n    ${body}\n` });

  it.each([
    ["no tests", "true", {}, { verdict: "could_not_run", counted: false, passed: null, exit_code: 0 }],
    ["a printed summary", "echo '== 5 passed in 0.1s =='", {}, { verdict: "could_not_run", counted: false }],
    ["an unknown command", "no-such-runner", {}, { verdict: "could_not_run", exit_code: 127 }],
    ["an unknown runner that fails", "exit 4", {}, { verdict: "failed", counted: false, exit_code: 4 }],
    ["an empty project", "pytest", {}, { verdict: "nothing_ran", exit_code: 5 }],
    ["an early exit", "pytest", python("os._exit(0)"), { verdict: "could_not_run", exit_code: 0 }],
    ["a killed runner", "pytest", python("os.kill(os.getpid(), signal.SIGKILL)"), { verdict: "failed", passed: null }],
    ["a killed shell", "pytest; true", python("os.kill(os.getppid(), signal.SIGKILL)"), { outcome: "failed" }],
    [
      "a written report",
      "printf '%064d\\n{}' 0 >$GLOVEBOX_TEST_REPORTS/$(printf %032d 0)",
      {},
      { verdict: "could_not_run" },
    ],
    ["no reporters", "rm -rf $GLOVEBOX_TEST_REPORTS; pytest", python("pass"), { verdict: "could_not_run" }],
    ["no variables", "env -i /usr/bin/python3 -m pytest", python("pass"), { verdict: "could_not_run", exit_code: 0 }],
    [
      "another program in the runner's place",
      "PATH=$PWD/bin:$PATH sh bin/pytest",
      { ...python("assert False"), "bin/pytest": "echo 1 passed in 0.01s" },
      { verdict: "could_not_run", exit_code: 0 },
    ],
    [
      "tests left out",
      "pytest",
      { ...python("assert False"), "conftest.py": "collect_ignore_glob = ['*']" },
      { verdict: "nothing_ran" },
    ],
    [
      "an early exit of unittest",
      "python3 -m unittest",
      { "test_b.py": "import os, unittest\nclass T(unittest.TestCase):\n    def test_b(self):\n        os._exit(0)\n" },
      { verdict: "could_not_run", exit_code: 0 },
    ],
    ["a hidden failure", "pytest || true", python("assert False"), { verdict: "failed", failed: 1, exit_code: 0 }],
  ] as const)("with %s", async (_, command, files, expected) => {
    const response = await tryFiles({ "README.md": "", ...files }, command, { image: sessionImages.python });
    expect(response).toMatchObject(expected);
    expect(response.verdict).not.toBe("passed");
  });

  const junit = (cases: string): string => `<testsuites><testsuite name="any">${cases}</testsuite></testsuites>`;
  it("by a tool's own report, where the request names it and this run has written it", async () => {
    const files = {
      "r/old.xml": junit('<testcase name="old"/>'),
      "new.xml": junit('<testcase name="<&quot;>"/>'.replace("<&", "&lt;&")),
    };
    const written = await tryFiles(files, "mkdir r && cp new.xml r/", { report_file: "r" });
    expect(written).toMatchObject({ verdict: "passed", passed: 1, counted_from: "report_file", runners: ["junit"] });
    expect(await tryFiles(files, "true", { report_file: "r/old.xml" })).toMatchObject({
      verdict: "could_not_run",
      counted: false,
    });
  });

  it.each([
    ["a FIFO", "mkfifo r"],
    ["a device", "ln -s /dev/zero r"],
    ["a link out of the copy", "ln -s /etc/passwd r"],
    ["200 MB", `truncate -s 200M r; printf '{"results":' | dd of=r conv=notrunc 2>/dev/null`],
    [
      "an XML bomb",
      `{ echo '<!DOCTYPE t ['; echo '<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>'; } >r`,
    ],
    ["a report that grows", `(while :; do echo '<testsuite>'; done >r) & sleep 0.2`],
    ["many files", "mkdir r && cd r && seq -f %g.xml 1500 | xargs touch"],
  ])("by a report that is %s", async (_, command) => {
    const response = await tryFiles({ "a.py": "" }, command, { report_file: "r", limits: { disk_mb: 256 } });
    expect(response).toMatchObject({ verdict: "could_not_run", counted: false, passed: null });
    expect(JSON.stringify(response)).not.toContain("root:x:");
  });

  it("when the time runs out", async () => {
    const response = await tryFiles({ "a.py": "" }, "sleep 600", { timeout_seconds: 2 });
    expect(response).toMatchObject({ verdict: "timed_out", timed_out: true, counted: false });
  });
});
