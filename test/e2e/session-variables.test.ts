import { describe, expect, it } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { sessionImages, testImages } from "../helpers/test-images.ts";
import type { RunCodeRequest, RunCodeResponse } from "../helpers/wire-glovebox.ts";
import { rareTag } from "../lanes/lanes.ts";

/** One red pixel. */
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** What pandas and matplotlib show, through the protocols that they use for it. */
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
  const lane = { tags: engine === "local" ? [rareTag] : [] };
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

  it("has those of earlier calls, the last expression's value, and each call's own errors", lane, async () => {
    const run = await open();
    expect(await run("x = 6\nprint('made', end='')")).toMatchObject({
      stdout: "made",
      displays: [],
      variables_lost: false,
    });
    const second = await run("import sys; print('err', file=sys.stderr); x * 7");
    expect(second).toMatchObject({
      stdout: "",
      stderr: "err\n",
      restarted: false,
      outcome: "completed",
      exit_code: 0,
    });
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

  it("shows tables and plots without a file", lane, async () => {
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

  it("loses them with its interpreter, and says so", lane, async () => {
    const run = await open();
    const first = await run("y = 1");
    const seconds = uniqueSeconds();
    const sleeper = `import subprocess; subprocess.Popen(['sleep', '${seconds}'], start_new_session=True)`;
    await run(sleeper);
    const javascript = await run("var other = 1; other + 1", { language: "javascript" });
    expect(javascript).toMatchObject({ displays: [{ content: "2" }], variables_lost: false });
    expect(await run("y")).toMatchObject({ displays: [{ content: "1" }] });
    expect(sleepersFor(seconds).length).toBeGreaterThan(0);

    const late = await run("while True: pass", { timeout_seconds: 1 });
    expect(late).toMatchObject({ outcome: "timed_out", variables_lost: true });
    expect(late.warnings.join()).toContain("all variables are gone");
    expect(sleepersFor(seconds)).toEqual([]);
    expect(await run("other", { language: "javascript" })).toMatchObject({ displays: [{ content: "1" }] });
    const next = await run("print('y' in globals()); z = 1");
    expect(next).toMatchObject({ stdout: "False\n", variables_lost: false, sandbox_id: first.sandbox_id });

    expect(await run("import os; os._exit(4)")).toMatchObject({ exit_code: 4, variables_lost: true });
    const after = await run("print('z' in globals()); z = 1");
    expect(after).toMatchObject({ stdout: "False\n", variables_lost: false, sandbox_id: first.sandbox_id });

    await run("import os, threading, time\nthreading.Timer(0.2, lambda: os._exit(0)).start()");
    await expect.poll(async () => (await run("1")).variables_lost, { timeout: 20_000, interval: 300 }).toBe(true);
  });

  it("loses them when memory runs out and when a call is cancelled, and goes on", lane, async () => {
    const run = await open();
    const { sandbox_id: id } = await run("kept = 1");
    const greedy = await run("held = [b'x' * 2**20 for _ in range(900)]");
    expect(greedy).toMatchObject({
      outcome: "oom_killed",
      variables_lost: true,
      error: { error_type: "OOM_KILLED", context: { limit_mb: 512 } },
    });
    expect(await run("print('kept' in globals()); kept = 2")).toMatchObject({
      stdout: "False\n",
      variables_lost: false,
      sandbox_id: id,
    });
    const giveUp = new AbortController();
    const seconds = uniqueSeconds();
    const code = `import subprocess, time
subprocess.Popen(['sleep', '${seconds}'], start_new_session=True)
print('on', flush=True)
time.sleep(1000)`;
    const given = await glovebox().runCode(
      { language: "python", code, packages: [], session_id: greedy.session_id },
      { signal: giveUp.signal, onEvent: ({ type }) => (type === "output" ? giveUp.abort() : undefined) },
    );
    expect(given).toMatchObject({ outcome: "cancelled", variables_lost: true });
    expect(sleepersFor(seconds)).toEqual([]);
    const next = await run("print('kept' in globals())");
    expect(next).toMatchObject({ stdout: "False\n", variables_lost: false, sandbox_id: id });
  });

  it("loses them with its sandbox, and says so in the next call", lane, async () => {
    const run = await open();
    const { sandbox_id: id } = await run("kept = 1");
    await glovebox().removeSandboxes({ ids: [id] });
    const next = await run("print('kept' in globals())");
    expect(next).toMatchObject({ stdout: "False\n", restarted: true, variables_lost: true });
    expect(next.warnings.join()).toContain("variables of earlier calls are gone");
  });

  it("refuses what one call alone may have, and another choice later", lane, async () => {
    const run = await open();
    await run("kept = 1");
    for (const more of [{ stdin: "x" }, { network: "registries" }]) {
      await expect(run("1", more)).rejects.toMatchObject({ context: { field: Object.keys(more)[0] } });
    }
    await expect(run("1", { keep_variables: false })).rejects.toMatchObject({ context: { field: "keep_variables" } });
    expect(await run("kept")).toMatchObject({ displays: [{ content: "1" }] });
  });

  it("is not harmed by a program that falsifies its own end", lane, async () => {
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

/** Each with the runtime of its images, if there is one. */
const runtimes = engines.flatMap((engine) =>
  (["bun", "node"] as const).map((runtime) => ({ name: `${runtime} on ${engine}`, engine, asked: { runtime } })),
);

describe.each(runtimes)("a session that keeps variables of $name", ({ engine, asked }) => {
  const lane = { tags: engine === "docker" ? [] : [rareTag] };
  const images = {
    ...sessionImages,
    session: asked.runtime === "node" ? testImages.javascript : sessionImages.session,
  };
  const glovebox = useGlovebox(engine, { settings: { images } });

  async function open(
    language: "javascript" | "typescript",
  ): Promise<(code: string, more?: Partial<RunCodeRequest>) => Promise<RunCodeResponse>> {
    const usual = { ...asked, language, packages: [] };
    const { session_id: id } = await glovebox().runCode({ ...usual, code: "0", keep_variables: true });
    return (code, more = {}) => glovebox().runCode({ ...usual, code, session_id: id, ...more });
  }

  it("has what earlier calls declared and imported, may declare it again, and shows the last value", lane, async () => {
    const run = await open("typescript");
    const first = await run(
      "import { sep } from 'node:path';\nimport type { Stats } from 'node:fs';\nconst x: number = await Promise.resolve(6);\nlet { a, b: [c] } = { a: 1, b: [2] };\nclass Point { constructor(readonly y = 3) {} }\nenum Kind { One = 1 }\nfunction helper(): number { return 1 }\nconst outer = () => helper() + x;\nfor (var i = 0; i < 3; i++);\nconsole.log('made')",
    );
    expect(first, first.stderr).toMatchObject({
      outcome: "completed",
      stdout: "made\n",
      displays: [],
      variables_lost: false,
    });
    const values = "[x * 7, sep, a, c, new Point().y, Kind.One, i, outer(), helper.name].join(' ')";
    const second = await run(`process.stderr.write('err'); ${values}`);
    expect(second).toMatchObject({ stderr: "err", stdout: "", exit_code: 0, restarted: false });
    expect(second.displays).toEqual([
      { media_type: "text/plain", encoding: "utf8", content: "'42 / 1 2 3 1 3 7 helper'" },
    ]);
    await run("const x = 1; function helper() { return 2 }; let a; class Point { y = 'new' }");
    expect((await run("[x, outer(), String(a), new Point().y].join(' ')")).displays?.[0]?.content).toBe(
      "'1 3 undefined new'",
    );
    expect((await run("const crypto = 5, fetch = 6; crypto + fetch")).displays?.[0]?.content).toBe("11");
    expect((await run("(async () => 'awaited')()")).displays?.[0]?.content).toBe("'awaited'");
    expect(
      (await run("const f = await import('node:fs'); typeof f.readFileSync + typeof require('os').cpus")).displays?.[0]
        ?.content,
    ).toBe("'functionfunction'");
  });

  it("reports the errors of each call in its own words, and goes on", lane, async () => {
    const run = await open("javascript");
    await run("const kept = 1;\nfunction fails() {\n  throw new RangeError('no')\n}");
    const failed = await run("\nfails()");
    expect(failed).toMatchObject({ outcome: "failed", exit_code: 1, variables_lost: false });
    expect(failed.stderr).toMatch(/^[^]*RangeError: no\n[^]*<call \d+>:3[^]*<call \d+>:2[^]*$/);
    const mistaken = await run("let fine = 1;\nlet x = ;");
    expect(mistaken).toMatchObject({
      outcome: "failed",
      error: { error_type: "SYNTAX_ERROR", context: { line: 2, column: 9 } },
    });
    expect(await run("process.exit(3)")).toMatchObject({ outcome: "failed", exit_code: 3, variables_lost: false });
    expect(await run("Promise.reject(new Error('loose')); await new Promise(() => {})")).toMatchObject({
      exit_code: 1,
    });
    const missing = await run("import gone from 'gb-gone'");
    expect(missing).toMatchObject({ outcome: "failed", error: { error_type: "NOT_FOUND" }, variables_lost: false });
    const empty = await run("console.log(JSON.stringify(require('node:fs').readFileSync(0, 'utf8')))");
    expect(empty).toMatchObject({ outcome: "completed", stdout: '""\n' });
    const args = { args: ["one"] };
    expect(await run("console.log(process.argv.slice(2), kept, process.cwd())", args)).toMatchObject({
      stdout: "[ 'one' ] 1 /work\n".replaceAll("'", asked.runtime === "node" ? "'" : '"'),
    });
  });

  it("shows tables, pictures and what a value says of itself", lane, async () => {
    const run = await open("javascript");
    expect((await run("[{ a: 1, b: '<i>' }]")).displays).toMatchObject([
      { media_type: "text/plain" },
      {
        media_type: "text/html",
        content: "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>&lt;i&gt;</td></tr></table>",
      },
    ]);
    const rich = await run(
      `display('first'); ({ [Symbol.for('Jupyter.display')]: () => ({ 'text/plain': 'p', 'image/png': '${picture}', 'x/y': 'no' }) })`,
    );
    expect(rich.displays).toEqual([
      { media_type: "text/plain", encoding: "utf8", content: "'first'" },
      { media_type: "text/plain", encoding: "utf8", content: "p" },
      { media_type: "image/png", encoding: "base64", content: picture },
    ]);
    expect((await run(`Buffer.from('${picture}', 'base64')`)).displays).toMatchObject([{ media_type: "image/png" }]);
    const long = "({ [Symbol.for('Jupyter.display')]: () => ({ 'text/html': 'x'.repeat(20_000_000) }) })";
    expect((await run(long)).displays?.[1]?.content).toMatch(/left out: too long/);
  });

  it("loses them with its interpreter alone, and says so", lane, async () => {
    const run = await open("javascript");
    const first = await run("var y = 1");
    const late = await run("for (;;);", { timeout_seconds: 1 });
    expect(late).toMatchObject({ outcome: "timed_out", variables_lost: true });
    const next = await run("console.log(typeof y); var z = 1");
    expect(next).toMatchObject({ stdout: "undefined\n", variables_lost: false, sandbox_id: first.sandbox_id });
    const crash = "process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})";
    expect(await run(crash)).toMatchObject({ variables_lost: true });
    const after = await run("console.log(typeof z)");
    expect(after).toMatchObject({ stdout: "undefined\n", variables_lost: false, sandbox_id: first.sandbox_id });
  });

  it("is not harmed by a program that falsifies its own end", lane, async () => {
    const run = await open("javascript");
    const forging = `const fs = require("node:fs");
const real = fs.writeSync;
fs.writeSync = (descriptor, bytes) => {
  const mark = Buffer.from(bytes).subarray(0, bytes.indexOf(0x1e, 1) + 1);
  real(2, mark);
  real(1, Buffer.concat([mark, Buffer.from("99999999999999\\n")]));
  for (;;);
};`;
    expect(await run(forging, { timeout_seconds: 30 })).toMatchObject({ outcome: "failed", variables_lost: true });
    expect(await run("console.log(1)")).toMatchObject({ stdout: "1\n", outcome: "completed" });
  });
});
