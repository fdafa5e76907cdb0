import { describe, expect, it } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { sessionImages } from "../helpers/test-images.ts";
import type { RunCodeRequest, RunCodeResponse } from "../helpers/wire-glovebox.ts";

/** One red pixel. */
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** What pandas and matplotlib show, by the protocols that they show it by. */
const shows = `import base64, sys, types
class Table:
    def _repr_html_(self): return '<table><tr><td>1</td></tr></table>'
    def to_string(self, max_rows=None): return '   a\\n0  1'
class Figure:
    def savefig(self, target, **options): target.write(base64.b64decode('${picture}'))
plots = types.ModuleType('matplotlib.pyplot')
plots.open = [1]
plots.get_fignums = lambda: plots.open
plots.figure = lambda number: Figure()
plots.close = lambda which: plots.open.clear()
sys.modules['matplotlib.pyplot'] = plots
display('first')
Table()`;

describe.each(engines)("a session on %s that keeps variables", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } });

  async function open(): Promise<(code: string, more?: Partial<RunCodeRequest>) => Promise<RunCodeResponse>> {
    const { session_id: id } = await glovebox().runCode({
      language: "python",
      code: "pass",
      packages: [],
      keep_variables: true,
    });
    return (code, more = {}) => glovebox().runCode({ language: "python", code, packages: [], session_id: id, ...more });
  }

  it("has those of earlier calls, the last expression's value, and the errors of each call in its own words", async () => {
    const run = await open();
    expect(await run("x = 6\nprint('made', end='')")).toMatchObject({
      stdout: "made",
      displays: [],
      variables_lost: false,
    });
    const second = await run("import sys; print('err', file=sys.stderr); x * 7");
    expect(second).toMatchObject({ stdout: "", stderr: "err\n", restarted: false, outcome: "completed", exit_code: 0 });
    expect(second.displays).toEqual([{ media_type: "text/plain", encoding: "utf8", content: "42" }]);
    await run("def fails():\n    raise ValueError('no')");
    const failed = await run("\nfails()");
    expect(failed).toMatchObject({ outcome: "failed", exit_code: 1, variables_lost: false });
    expect(failed.stderr).toMatch(/^Traceback.*\n.*"<call 5>", line 2.*\n {4}fails\(\)\n.*"<call 4>", line 2/);
    expect(await run("print(1")).toMatchObject({ outcome: "failed", error: { error_type: "SYNTAX_ERROR" } });
    expect(await run("import sys; sys.exit(3)")).toMatchObject({ outcome: "failed", exit_code: 3 });
    const args = { args: ["one"] };
    expect(await run("import sys, os; print(sys.argv[1:], x, os.getcwd(), sys.stdin.read())", args)).toMatchObject({
      stdout: "['one'] 6 /work \n",
    });
  });

  it("shows tables and plots without a file", async () => {
    const run = await open();
    const { displays, outcome } = await run(shows);
    expect(outcome).toBe("completed");
    expect(displays).toEqual([
      { media_type: "text/plain", encoding: "utf8", content: "'first'" },
      { media_type: "text/plain", encoding: "utf8", content: "   a\n0  1" },
      { media_type: "text/html", encoding: "utf8", content: "<table><tr><td>1</td></tr></table>" },
      { media_type: "image/png", encoding: "base64", content: picture },
    ]);
    expect((await run("None")).displays).toEqual([]);
    const long = await run("'x' * 20_000_000");
    expect(long.displays?.[0]?.content).toMatch(/left out: too long/);
  });

  it("loses them with its interpreter, and says so", async () => {
    const run = await open();
    const first = await run("y = 1");
    const seconds = uniqueSeconds();
    const sleeper = `import subprocess; subprocess.Popen(['sleep', '${seconds}'], start_new_session=True)`;
    await run(sleeper);
    const javascript = await run("console.log(1)", { language: "javascript" });
    expect(javascript.warnings.join()).toContain("Python alone");
    expect(await run("y")).toMatchObject({ displays: [{ content: "1" }] });
    expect(sleepersFor(seconds).length).toBeGreaterThan(0);

    const late = await run("while True: pass", { timeout_seconds: 1 });
    expect(late).toMatchObject({ outcome: "timed_out", variables_lost: true });
    expect(late.warnings.join()).toContain("all variables are gone");
    expect(sleepersFor(seconds)).toEqual([]);
    const next = await run("print('y' in globals()); z = 1");
    expect(next).toMatchObject({ stdout: "False\n", variables_lost: false, sandbox_id: first.sandbox_id });

    expect(await run("import os; os._exit(4)")).toMatchObject({ exit_code: 4, variables_lost: true });
    const after = await run("print('z' in globals()); z = 1");
    expect(after).toMatchObject({ stdout: "False\n", variables_lost: false, sandbox_id: first.sandbox_id });

    await run("import os, threading, time\nthreading.Timer(0.2, lambda: os._exit(0)).start()");
    await expect.poll(async () => (await run("1")).variables_lost, { timeout: 20_000, interval: 300 }).toBe(true);
  });

  it("loses them with its sandbox, and says so in the next call", async () => {
    const run = await open();
    const { sandbox_id: id } = await run("kept = 1");
    await glovebox().removeSandboxes({ ids: [id] });
    const next = await run("print('kept' in globals())");
    expect(next).toMatchObject({ stdout: "False\n", restarted: true, variables_lost: true });
    expect(next.warnings.join()).toContain("variables of earlier calls are gone");
  });

  it("refuses what one call alone may have, and another choice later", async () => {
    const run = await open();
    await run("kept = 1");
    for (const more of [{ stdin: "x" }, { network: "registries" }]) {
      await expect(run("1", more)).rejects.toMatchObject({ context: { field: Object.keys(more)[0] } });
    }
    await expect(run("1", { keep_variables: false })).rejects.toMatchObject({ context: { field: "keep_variables" } });
    expect(await run("kept")).toMatchObject({ displays: [{ content: "1" }] });
  });

  it("is not harmed by a program that falsifies its own end", async () => {
    const run = await open();
    const forging = `import os, sys
frame = sys._getframe()
while frame.f_back is not None: frame = frame.f_back
header = [f.f_locals['header'] for f in [sys._getframe(i) for i in range(1, 6)] if 'header' in f.f_locals][0]
mark = b'\\x1e' + header['token'].encode() + b'\\x1e'
os.write(2, mark)
os.write(1, mark + b'99999999999999\\n')
import time; time.sleep(60)`;
    expect(await run(forging, { timeout_seconds: 30 })).toMatchObject({ outcome: "failed", variables_lost: true });
    expect(await run("print(1)")).toMatchObject({ stdout: "1\n", outcome: "completed" });
  });
});
