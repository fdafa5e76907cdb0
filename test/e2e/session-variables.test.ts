import { describe, expect, it } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { sessionImages } from "../helpers/test-images.ts";
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

/** As much of matplotlib as charts are read from. */
const figures = `${shows.split("\ndisplay(")[0]}
sys.modules['matplotlib'] = types.ModuleType('matplotlib')
plots.open = []
class Axis:
    def get_majorticklocs(self): return [0.0]
    def get_majorticklabels(self): return []
class Axes:
    def __init__(self, drawn):
        self.lines, self.patches, self.collections, self.images, self.tables = drawn, [], [], [], []
        self.xaxis = self.yaxis = Axis()
    def get_title(self): return ''
    def get_xlabel(self): return 'x (s)'
    get_ylabel = get_title
    def get_xscale(self): return 'linear'
    get_yscale = get_xscale
class Line2D:
    def __init__(self, *given): self.given = given
    def get_label(self): return self.given[0]
    def get_data(self, orig): return self.given[1:]
class Other: pass
class Figure(Figure):
    def __init__(self, *axes): self.axes = axes
    def get_axes(self): return self.axes`;

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
    expect(second.displays).toEqual([
      { value: 0, is_result: true, media_type: "text/plain", encoding: "utf8", content: "42" },
    ]);
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

  it("shows the call's own line of every error, and none of ours", lane, async () => {
    const run = await open();
    const errors = async (...codes: readonly string[]): Promise<readonly string[]> => {
      const results: string[] = [];
      for (const code of codes) results.push((await run(code)).stderr);
      return results;
    };
    expect(
      await errors("x = 1\ny = (2,\nz = 3", "if True:\nprint(2)", "y = 1\nreturn y", "x = '\u2028\f'\nx[9]"),
    ).toEqual([
      expect.stringMatching(/^ {2}File "<call \d+>", line 2\n {4}y = \(2,\n {8}\^\nSyntaxError: /),
      expect.stringMatching(/^ {2}File "<call \d+>", line 2\n {4}print\(2\)\n.*\nIndentationError: /),
      expect.stringMatching(/^ {2}File "<call \d+>", line 2\n {4}return y\n(?: {4}\^+\n)?SyntaxError: /),
      expect.stringMatching(/^Traceback.*\n {2}File "<call \d+>", line 2, in <module>\n {4}x\[9\]\n/),
    ]);
    expect(await run("a = 1\n  b = 2")).toMatchObject({
      error: { error_type: "SYNTAX_ERROR", context: { line: 2, column: 3, file: "main.py" } },
    });
    expect(await run("\uFEFFx = 7\nx")).toMatchObject({ outcome: "completed", displays: [{ content: "7" }] });

    // A file of the call's name, a cache of lines that is gone, our frames between its own, and errors that cannot be shown.
    const last = Number(/<call (\d+)>/.exec((await run("1 / 0")).stderr)?.[1]);
    await run(`open('<call ${last + 2}>', 'w').write('planted = (')\nimport linecache\nlinecache.cache = None`);
    const hostile = await errors(
      "lines = (1,",
      "class Bad:\n    def __repr__(self): raise KeyError('r')\ntry: display(Bad())\nexcept Exception as error: raise RuntimeError('two') from error",
      "class Worse(Exception):\n    @property\n    def __cause__(self): raise SystemExit(9)\nraise Worse('w')",
      "import sys\nsys.exit(Bad())",
    );
    expect(hostile[0]).toContain("    lines = (1,\n");
    expect(hostile.join("")).not.toMatch(/planted|main\.py|show\(value\)|asyncio/);
    expect(hostile[1]).toMatch(
      /"<call \d+>", line 3, in <module>[^]*"<call \d+>", line 2, in __repr__[^]*RuntimeError: two/,
    );
    expect(hostile.slice(2).every((each) => each !== "")).toBe(true);
    expect(await run("x")).toMatchObject({ displays: [{ content: "7" }], variables_lost: false });
  });

  it("answers with the exception that ended a call, bounded and plain, and with none otherwise", lane, async () => {
    const run = await open();
    const { exception, stderr } = await run("def fails():\n    raise ValueError('no \\x1b[31mred')\nfails()");
    expect(exception).toEqual({ name: "ValueError", value: "no red", traceback: expect.any(String) as string });
    expect(exception?.traceback).toBe(stderr.trimEnd().replace("\u001b[31m", ""));
    expect(exception?.traceback).toMatch(
      /^Traceback.*\n.*"<call \d+>", line 3[^]*line 2, in fails\n[^]*ValueError: no red$/,
    );
    expect((await run("y = (2,\nz = 3")).exception).toMatchObject({ name: "SyntaxError" });
    for (const code of ["1", "import sys; sys.exit(3)", "import sys; sys.exit('text')", "import os; os._exit(4)"]) {
      expect(await run(code), code).not.toHaveProperty("exception");
    }
    const long = await run("class Long(Exception): pass\nLong.__name__ = 'N' * 10**6\nraise Long('é' * 10**6)");
    expect(long).toMatchObject({ outcome: "failed", variables_lost: false });
    expect(long.exception?.name).toMatch(/^N{75} \[... \d+ characters left out ...\] N{75}$/);
    expect(long.exception?.value).toMatch(/^é{1975}\n\[... 996050 characters left out ...\]\né{1975}$/);
    expect(long.exception?.traceback.length).toBeLessThan(16_100);
    const hostile = `class Kind(type):
    @property
    def __name__(cls): raise KeyError('n')
class Bad(Exception, metaclass=Kind):
    def __str__(self): raise SystemExit(9)
raise Bad()`;
    expect(await run(hostile)).toMatchObject({
      exit_code: 1,
      exception: { name: "Exception", value: "<exception str() failed>" },
      variables_lost: false,
    });
  });

  it("has its streams again after a call that closed or replaced them", lane, async () => {
    const run = await open();
    for (const trick of [
      "import sys; sys.stdout.close(); sys.stderr.close(); sys.stdin.close()",
      "import io, sys; sys.stdout = io.StringIO(); sys.stderr = None; print('lost')",
      "import sys; del sys.stdout; sys.__stderr__.detach()",
      "import sys; sys.stdout.write = lambda text: None; sys.stderr.flush = None",
      "import sys; sys.stdout.reconfigure(encoding='ascii'); sys.stdout.buffer.close()",
      "import os; os.close(0); os.close(1); os.close(2); held = open('other', 'w'); print('lost')",
      "import os; os.dup2(os.open('other', os.O_WRONLY), 1); os.set_blocking(2, False)",
    ]) {
      expect(await run(`${trick}\n1 / 0`), trick).toMatchObject({
        outcome: "failed",
        exit_code: 1,
        stderr: expect.stringContaining("ZeroDivisionError") as string,
      });
      const next = await run("import sys; print('é', sys.stdin.read()); print('e', file=sys.stderr)");
      expect(next, trick).toMatchObject({ outcome: "completed", stdout: "é \n", stderr: "e\n", variables_lost: false });
    }
  });

  it("awaits at the top level of a call, in one event loop for all of them", lane, async () => {
    const run = await open();
    const first = await run(`import asyncio
async def work(): await asyncio.sleep(0.05); return 5
task = asyncio.create_task(work())
async def two(): yield 1; yield 2
async with asyncio.Lock(): seen = [each async for each in two()]
await asyncio.sleep(0, seen)`);
    expect(first, first.stderr).toMatchObject({ displays: [{ content: "[1, 2]" }] });
    expect(await run("await task")).toMatchObject({ displays: [{ content: "5" }] });
    expect(await run("own = asyncio.create_task(work())\nawait own")).toMatchObject({ displays: [{ content: "5" }] });
    const failed = await run("async def fails():\n    raise ValueError('no')\nawait fails()");
    expect(failed.stderr).toMatch(
      /^Traceback.*\n.*"<call \d+>", line 3, in <module>\n.*\n(?: .*\^+\n)?.*"<call \d+>", line 2, in fails\n[^]*ValueError: no\n$/,
    );
    expect(failed.stderr).not.toMatch(/asyncio|main\.py/);
    expect(await run("await asyncio.sleep(0); import sys; sys.exit(3)")).toMatchObject({ exit_code: 3 });
    expect(await run("asyncio.run(work())")).toMatchObject({ displays: [{ content: "5" }] });
    // A loop that is closed, a call that cancels itself, and a task that ends the call of another.
    await run("asyncio.get_event_loop_policy().get_event_loop().close()");
    expect(await run("for each in asyncio.all_tasks(): each.cancel()\nawait asyncio.sleep(1)")).toMatchObject({
      exit_code: 1,
      stderr: expect.stringContaining("CancelledError") as string,
    });
    const ends =
      "async def ends(): raise SystemExit(4)\nother = asyncio.create_task(ends())\nawait asyncio.sleep(0.1)\nleft = 1";
    expect(await run(ends)).toMatchObject({ exit_code: 4, variables_lost: false });
    expect(await run("await asyncio.sleep(0.3)\n'left' in globals()")).toMatchObject({
      displays: [{ content: "False" }],
    });
    expect(await run("def f(): await work()")).toMatchObject({
      error: { error_type: "SYNTAX_ERROR" },
      stderr: expect.stringContaining("    def f(): await work()\n") as string,
    });
  });

  it("takes the lines of notebooks that are no Python, and indented code", lane, async () => {
    const run = await open();
    const lines = await run(
      "word = 'of'\nif True:\n    !echo {word} $word; exit 4\nfiles = !printf 'a\\nb'\n%matplotlib inline\nfiles",
    );
    expect(lines).toMatchObject({ stdout: "of of\n", displays: [{ content: "['a', 'b']" }], outcome: "completed" });
    const indented = await run('    text = """\n    %is no magic\n    """\n    text');
    expect(indented.displays).toMatchObject([{ content: "'\\n%is no magic\\n'" }]);
    expect(await run("%%bash\ncd /tmp; OWN=kept; echo $GB_A", { environment: { GB_A: "1" } })).toMatchObject({
      stdout: "1\n",
    });
    // Its shell has the variables and the folder of the call before, without what was that call's own.
    expect(await run("%%bash\necho $OWN ${GB_A:-gone} $PWD")).toMatchObject({ stdout: "kept gone /tmp\n" });
    expect(await run("%%bash\nexit 3")).toMatchObject({ exit_code: 3, variables_lost: false, stderr: "" });
    expect(await run("%%bash\nkill -9 $$")).toMatchObject({ exit_code: 137, variables_lost: false });
    expect(await run("%%bash\nsleep 300 & exit 2")).toMatchObject({ exit_code: 2, variables_lost: false });
    const broken = await run(
      "import signal\nsignal.signal(signal.SIGALRM, signal.default_int_handler)\nsignal.alarm(1)\n__glovebox_line__('%%bash', '\\nsleep 300')",
    );
    expect([broken.exception?.name, broken.variables_lost]).toEqual(["KeyboardInterrupt", false]);
    expect(await run("%%bash\necho $OWN.")).toMatchObject({ stdout: ".\n" });
    for (const [code, words] of [
      ["%nothing", /UsageError: %nothing is not there/],
      ["%%nothing\n1", /UsageError: %%nothing is not there/],
      ["x = (1\n!ls", /line 1\n {4}x = \(1\n/],
    ] as const) {
      const failed = await run(code);
      expect([failed.exit_code, failed.stderr], code).toEqual([1, expect.stringMatching(words)]);
      expect(failed.stderr).not.toMatch(/main\.py|lines\.py/);
    }
    expect(await run("%time word")).toMatchObject({ displays: [{ content: "'of'" }] });
  });

  it("shows figures and tables in numbers, as far as they have any", lane, async () => {
    const run = await open();
    await run(figures);
    const numbersOf = async (code: string): Promise<readonly unknown[]> =>
      ((await run(code)).displays ?? [])
        .filter(({ media_type: type }) => type.endsWith("+json"))
        .map(({ content }) => JSON.parse(content) as unknown);
    const drawn = await numbersOf("Figure(Axes([Line2D('a (s)', [1, 2], [float('nan'), float('inf')])]))");
    expect(drawn).toMatchObject([
      {
        type: "line",
        x_label: "x (s)",
        x_unit: "s",
        elements: [
          {
            label: "a (s)",
            points: [
              [1, null],
              [2, null],
            ],
          },
        ],
      },
    ]);
    expect(await numbersOf("Figure(Axes([Line2D('_a', [1], [2])]), Axes([Other()]))")).toMatchObject([
      {
        type: "superchart",
        elements: [
          { type: "line", elements: [{ label: "Line 1" }] },
          { type: "unknown", elements: [] },
        ],
      },
    ]);
    // Without axes, too large, and of a program that does not keep to what matplotlib is.
    for (const code of [
      "Figure()",
      "Figure(Axes([Line2D('a', range(30000), range(30000))]))",
      "Figure(Axes([Line2D('a', None, None)]))",
      "Figure(Axes(7))",
    ]) {
      expect(await numbersOf(code), code).toEqual([]);
    }
    const many = await run("for each in range(300): display(each)");
    expect([many.displays?.length, many.displays?.at(-1)?.content, many.variables_lost]).toEqual([
      ...[200, "[more than 200 forms of values left out]", false],
    ]);
    // Those of a call that fails are its own.
    const failed = await run("sys.modules['matplotlib.pyplot'].open = [1]\n1 / 0");
    expect(failed.displays?.map(({ media_type: type }) => type)).toContain("image/png");
    expect((await run("1")).displays).toMatchObject([{ content: "1" }]);
  });

  it("gives one call environment variables of its own, and then what was there", lane, async () => {
    const run = await open();
    const seen =
      "import os, subprocess; print(os.environ.get('GB_A'), os.environ.get('GB_B'), subprocess.getoutput('echo $GB_A'))";
    await run("import os; os.environ['GB_A'] = 'mine'");
    expect(await run(seen, { environment: { GB_A: "é=1", GB_B: "" } })).toMatchObject({ stdout: "é=1  é=1\n" });
    expect(await run(seen)).toMatchObject({ stdout: "mine None mine\n" });
    for (const code of [
      "os.environ['GB_A'] = 'other'; os.environ['GB_C'] = 'c'; 1 / 0",
      "os.environ.pop('GB_B'); import sys; sys.exit(3)",
      "import asyncio; await asyncio.sleep(0); raise KeyboardInterrupt",
    ]) {
      expect(await run(code, { environment: { GB_A: "1", GB_B: "2" } }), code).toMatchObject({ outcome: "failed" });
      expect(await run(seen), code).toMatchObject({ stdout: "mine None mine\n", variables_lost: false });
    }
    expect(await run("os.environ['GB_C']")).toMatchObject({ displays: [{ content: "'c'" }] });
    const bad = run("1", { environment: { "A B": "1" } });
    await expect(bad).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
      message: expect.stringContaining("A B") as string,
    });
  });

  it("shows tables and plots without a file", lane, async () => {
    const run = await open();
    const { displays, outcome } = await run(shows);
    expect(outcome).toBe("completed");
    expect(displays).toEqual([
      { value: 0, is_result: false, media_type: "text/plain", encoding: "utf8", content: "'first'" },
      { value: 1, is_result: true, media_type: "text/plain", encoding: "utf8", content: "   a\n0  1" },
      {
        ...{ value: 1, is_result: true, media_type: "text/html", encoding: "utf8" },
        content: "<table><tr><td>1</td></tr></table>",
      },
      { value: 2, is_result: false, media_type: "text/plain", encoding: "utf8", content: expect.any(String) as string },
      { value: 2, is_result: false, media_type: "image/png", encoding: "base64", content: picture },
    ]);
    const formula = await run(
      "class Formula:\n    def _repr_latex_(self): return '$x$'\n    def _repr_json_(self): return {'x': [1]}, {}\nFormula()",
    );
    expect(formula.displays?.slice(1)).toMatchObject([
      { value: 0, media_type: "text/latex", content: "$x$" },
      { value: 0, media_type: "application/json", content: '{"x": [1]}' },
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
