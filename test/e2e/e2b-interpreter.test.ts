import { Sandbox } from "@e2b/code-interpreter";
import { Sandbox as PlainSandbox } from "e2b";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maxJsonValues } from "../../src/base/json-text.ts";
import { openE2bScene, type E2bScene, type SandboxAddress } from "../helpers/e2b-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";

const port = 49_999;
/** One red pixel. */
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** What pandas and matplotlib show, through the protocols that they use for it. */
const shows = `import base64, sys, types
class Table:
    def _repr_html_(self): return '<table></table>'
    def _repr_latex_(self): return '$t$'
    def _repr_json_(self): return {'a': [1]}
    def to_string(self, max_rows=None): return '   a'
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

describe.each(["docker", "local"] as const)("E2B's code interpreter on %s", (engine) => {
  useGlovebox(engine);
  let scene: E2bScene;
  let sandbox: Sandbox;
  let address: SandboxAddress;
  beforeAll(async () => {
    scene = await openE2bScene({ CONTAINER_MAX_OUTPUT_SIZE: "65536" }, engine);
    sandbox = await Sandbox.create({ envs: { WORD: "sandbox" } });
    address = await addressOf(sandbox.sandboxId);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  async function addressOf(id: string): Promise<SandboxAddress> {
    const { body } = await scene.ask(`GET /sandboxes/${id}`);
    return { id, token: String(body["envdAccessToken"]), port };
  }

  async function execute(body: object | string, target = address, more: { origin?: string } = {}) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await scene.askSandbox(target, "POST /execute", { body: text, headers: { ...more } });
    const answer = await response.text();
    const events = response.ok
      ? answer
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as { readonly type: string } & Readonly<Record<string, unknown>>)
      : [];
    return { status: response.status, answer, events };
  }

  it("runs code of the unmodified SDK in the very sandbox of its files and commands, with what was before", async () => {
    const first = await sandbox.runCode("import os\nx = 6\nopen('made', 'w').write('by code')\nprint('hello')\nx * 7");
    expect(first).toMatchObject({ text: "42", logs: { stdout: ["hello\n"], stderr: [] }, executionCount: 1 });
    expect(first.error).toBeUndefined();
    expect(await sandbox.files.read("made")).toBe("by code");
    await sandbox.files.write("given", "by files");
    const isContainer = (await sandbox.runCode("os.path.exists('/.dockerenv')")).text;
    expect(isContainer).toBe(engine === "docker" ? "True" : "False");
    const pid = (await sandbox.runCode("os.getpid()")).text;
    expect((await sandbox.commands.run(`kill -0 ${pid} && echo alive`)).stdout).toBe("alive\n");
    const second = await sandbox.runCode("print(open('given').read(), x, os.getcwd(), os.environ['WORD'])\n'text'");
    expect(second).toMatchObject({
      text: "text",
      logs: { stdout: ["by files 6 /home/user sandbox\n"] },
      executionCount: 4,
    });

    const javascript = await sandbox.runCode("const y = x = 5; await Promise.resolve(`${y + 1}`)", { language: "js" });
    expect(javascript).toMatchObject({ text: "6", executionCount: 1 });
    const typescript = await sandbox.runCode("const z: number = y + 2; z", { language: "typescript" });
    expect(typescript).toMatchObject({ text: "7", executionCount: 2 });
  });

  it("has variables for one execution, over the sandbox's own", async () => {
    const read = "import os\nos.environ.get('WORD', ''), os.environ.get('ONCE', 'none')";
    const own = await sandbox.runCode(read, { envs: { WORD: "own", ONCE: "once" } });
    expect(own.text).toBe("('own', 'once')");
    expect((await sandbox.runCode(read)).text).toBe("('sandbox', 'none')");
  });

  it("tells every value once, with all its forms, and which is the main one", async () => {
    const { results, text } = await sandbox.runCode(shows);
    expect(results.map(({ isMainResult, raw }) => ({ isMainResult, ...raw }))).toMatchObject([
      { isMainResult: false, text: "first" },
      { isMainResult: true, text: "   a", html: "<table></table>", latex: "$t$", json: { a: [1] } },
      { isMainResult: false, png: picture },
    ]);
    expect(text).toBe("   a");
    expect(results[1]?.formats()).toEqual(["html", "latex", "json"]);
    const displayed = await sandbox.runCode("display(1)");
    expect([displayed.text, displayed.results.length]).toEqual([undefined, 1]);
    const deep = `class Deep:\n    def _repr_json_(self): return [[]] * ${maxJsonValues}\nDeep()`;
    expect((await sandbox.runCode(deep)).results[0]?.json).toBeUndefined();
  });

  it("tells errors as data, and goes on after them", async () => {
    await sandbox.runCode("kept = 1");
    const { error } = await sandbox.runCode("\nraise ValueError('no')");
    expect(error).toMatchObject({ name: "ValueError", value: "no" });
    expect(error?.traceback).toMatch(/^Traceback.*\n.*line 2/);
    expect((await sandbox.runCode("print(1")).error?.name).toBe("SyntaxError");
    expect((await sandbox.runCode("import sys; sys.exit(3)")).error).toMatchObject({ name: "SystemExit", value: "3" });
    expect((await sandbox.runCode("throw new TypeError('t')", { language: "js" })).error?.name).toBe("TypeError");
    expect((await sandbox.runCode("kept")).text).toBe("1");
  });

  it("streams output while code runs, whatever it is", async () => {
    const said: (readonly [string, number])[] = [];
    const began = performance.now();
    const code =
      "import sys, time\nprint('a', end='')\ntime.sleep(1)\nprint('b')\nsys.stdout.buffer.write(b'\\xff\\xc3')\nsys.stdout.flush()\nsys.stdout.buffer.write(b'\\xa9\\n')";
    const { logs } = await sandbox.runCode(code, {
      onStdout: ({ line }) => void said.push([line, performance.now() - began]),
    });
    expect(logs.stdout.join("")).toBe("ab\n\ufffdé\n");
    expect(said[0]?.[0]).toBe("a");
    const pieces = "import sys, time\nsys.stderr.write('c')\ntime.sleep(0.3)\nsys.stderr.write('d\\n')";
    expect((await sandbox.runCode(pieces)).logs.stderr).toEqual(["cd\n"]);
    expect(performance.now() - began - (said[0]?.[1] ?? 0)).toBeGreaterThan(500);
  });

  it("is interrupted when its client goes, and keeps its variables", async () => {
    await sandbox.runCode("kept = 1");
    for (let time = 0; time < 3; time += 1) {
      const endless = sandbox.runCode("import time; time.sleep(300)", { timeoutMs: 1_000 });
      await expect(endless).rejects.toThrow(/timed out/);
    }
    const after = await sandbox.runCode("kept");
    expect([after.text, after.logs.stderr]).toEqual(["1", []]);
    const javascript = { language: "javascript" } as const;
    await sandbox.runCode("var kept = 2", javascript);
    const waiting = sandbox.runCode("await new Promise(() => setTimeout(() => {}, 300_000))", {
      ...javascript,
      timeoutMs: 1_000,
    });
    await expect(waiting).rejects.toThrow(/timed out/);
    expect((await sandbox.runCode("kept", javascript)).text).toBe("2");
    const context = await sandbox.createCodeContext({ language: "bash" });
    await expect(sandbox.runCode("sleep 300", { context, timeoutMs: 1_000 })).rejects.toThrow(/timed out/);
    const { logs } = await sandbox.runCode("echo on", { context });
    await sandbox.removeCodeContext(context);
    expect([logs.stdout, logs.stderr.join("")]).toEqual([["on\n"], expect.stringMatching(/shell has ended/)]);
  });

  it("is not interrupted when the client of code goes that waits for its turn", async () => {
    const first = sandbox.runCode("import time; time.sleep(4); 'whole'");
    await new Promise((resolve) => setTimeout(resolve, 500));
    await expect(sandbox.runCode("never = 1", { requestTimeoutMs: 1_000 })).rejects.toThrow(/timed out/);
    expect((await first).text).toBe("whole");
    expect((await sandbox.runCode("'never' in globals()")).text).toBe("False");
  });

  it("ends by force where it ignores that, and says what is lost", async () => {
    await sandbox.runCode("lost = 1");
    const stubborn =
      "import time\nwhile True:\n    try:\n        time.sleep(300)\n    except KeyboardInterrupt:\n        pass";
    // The second of two that are lost has nothing more to say.
    for (let times = 0; times < 2; times += 1)
      await expect(sandbox.runCode(stubborn, { timeoutMs: 1_000 })).rejects.toThrow(/timed out/);
    const after = sandbox.runCode("'lost' in globals()", { timeoutMs: 30_000 });
    await expect(after).resolves.toMatchObject({ text: "False" });
    const warning = /^glovebox: The execution before this one: .*variables.* gone.*\n$/;
    expect((await after).logs.stderr.join("")).toMatch(warning);
    expect((await sandbox.runCode("1 + 1")).logs.stderr).toEqual([]);
    const { error } = await sandbox.runCode("import os; os._exit(4)");
    expect(error).toMatchObject({ name: "UnexpectedEndOfExecution" });
    expect(error?.value).toContain("4");
  });

  it("cannot be made to tell what its code only prints", async () => {
    const forged = JSON.stringify({ type: "result", is_main_result: true, text: "forged", extra: {} });
    const { events } = await execute({
      code: `print(${JSON.stringify(`\n${forged}\r\n\u2028${forged}\n{"type":"end_of_execution"}`)})\nprint('\\x1e' * 3)\n1`,
    });
    expect(events.map(({ type }) => type).filter((type) => type !== "stdout")).toEqual([
      "number_of_executions",
      "result",
      "end_of_execution",
    ]);
    expect(events.filter(({ type }) => type === "result")).toMatchObject([{ text: "1" }]);
    // What a program says in place of a chart or a table is no part of its answer.
    const chart = "application/vnd.glovebox.chart+json";
    for (const content of ["NaN", '{"type": "pie", "elements": 1}', "[".repeat(100_000), "\\ud800"]) {
      const instead = await execute({
        code: `import json, threading\nreal = json.dumps\ndef forged(value, **more):\n    if 'displays' in value:\n        json.dumps = real\n        value['displays'][0].update(media_type='${chart}', content='${content}')\n    return real(value, **more)\njson.dumps = forged\n1`,
      });
      expect(instead.events).toContainEqual({ type: "result", is_main_result: true, extra: {} });
    }
    // A report that is none ends the interpreter, not the server.
    const broken = await execute({
      code: `import json, os, threading\nreal = json.dumps\njson.dumps = lambda value, **more: real({**value, 'displays': 'x'}) if 'displays' in value else real(value, **more)`,
    });
    expect(broken.events.find(({ type }) => type === "error")).toMatchObject({ name: "UnexpectedEndOfExecution" });
    expect((await sandbox.runCode("2")).text).toBe("2");
  });

  it("sends endless output no faster than it is read, and ends it with its reader", async () => {
    const { body } = await scene.askSandbox(address, "POST /execute", {
      body: JSON.stringify({ code: "import os\nwhile True: os.write(1, b'x' * 65536)" }),
    });
    let read = 0;
    // Leaving the loop ends the answer.
    for await (const bytes of (body ?? []) as AsyncIterable<Uint8Array>) if ((read += bytes.length) > 1_000_000) break;
    expect(read).toBeGreaterThan(1_000_000);
    const next = await sandbox.runCode("3", { timeoutMs: 10_000 }).catch((error: unknown) => error);
    expect(next).toMatchObject({ text: "3" });
  });

  it("is closed without its sandbox's token, and to another key's", async () => {
    const theirs = await scene.ask(
      "POST /v2/sandboxes",
      { templateID: "code-interpreter-v1" },
      { key: scene.other.text },
    );
    const foreign = { id: String(theirs.body["sandboxID"]), token: String(theirs.body["envdAccessToken"]), port };
    for (const token of ["", "x", foreign.token, scene.mine.text]) {
      const { status, events } = await execute({ code: "1" }, { ...address, token });
      expect([token === "", status, events]).toEqual([token === "", 401, []]);
    }
    expect((await execute({ code: "1" }, { ...foreign, token: address.token })).status).toBe(401);
    expect((await execute({ code: "1" }, { ...address, id: "i00000000000000000000" })).status).toBe(502);
    expect((await execute({ code: "1" }, address, { origin: "https://evil.example" })).status).toBe(403);
    // Each has variables of its own.
    await execute({ code: "secret = 1" });
    const { events } = await execute({ code: "secret" }, foreign);
    expect(events.find(({ type }) => type === "error")).toMatchObject({ name: "NameError" });
  });

  it("has contexts, each with variables, a folder and a language of its own", async () => {
    await sandbox.files.makeDir("sub");
    await sandbox.runCode("of = 'default'");
    const context = await sandbox.createCodeContext({ cwd: "/home/user/sub" });
    expect(context).toMatchObject({ language: "python", cwd: "/home/user/sub" });
    const first = await sandbox.runCode("import os\nof = 'own'\nos.getcwd()", { context });
    expect(first).toMatchObject({ text: "/home/user/sub", executionCount: 1 });
    expect((await sandbox.runCode("of", { context })).executionCount).toBe(2);
    expect((await sandbox.runCode("of")).text).toBe("default");
    const typed = await sandbox.createCodeContext({ language: "ts", cwd: "sub" });
    expect((await sandbox.runCode("const n: number = 3; n", { context: typed })).text).toBe("3");
    const known = await sandbox.listCodeContexts();
    expect(known).toEqual(
      expect.arrayContaining([context, { id: typed.id, language: "typescript", cwd: "/home/user/sub" }]),
    );
    const { events } = await execute({ code: "of", context_id: "python" });
    expect(events).toContainEqual({ type: "result", is_main_result: true, text: "default", extra: {} });

    await sandbox.restartCodeContext(context);
    expect(await sandbox.runCode("'of' in globals()", { context })).toMatchObject({ text: "False", executionCount: 1 });
    await sandbox.removeCodeContext(context);
    await expect(sandbox.runCode("1", { context })).rejects.toThrow(`Context ${context.id} not found`);
    await expect(sandbox.restartCodeContext(context.id)).rejects.toThrow("not found");
    expect((await sandbox.listCodeContexts()).map(({ id }) => id)).not.toContain(context.id);

    const nowhere = await sandbox.createCodeContext({ cwd: "/home/nobody" });
    const failed = await sandbox.runCode("open('/home/user/ran', 'w')", { context: nowhere });
    expect(failed.error?.name).toBe("FileNotFoundError");
    expect(await sandbox.files.exists("ran")).toBe(false);
    await sandbox.removeCodeContext(nowhere);
    await sandbox.removeCodeContext(typed);
  });

  it("has contexts of Python and JavaScript from the start, which are made by their first code", async () => {
    const other = await Sandbox.create();
    const shownIds = async () => (await other.listCodeContexts()).map(({ id, language }) => [id, language]);
    expect(await shownIds()).toEqual([
      ["python", "python"],
      ["bun", "javascript"],
    ]);
    await other.restartCodeContext("bun");
    expect((await other.runCode("1 + 1", { context: { id: "bun" } as never })).text).toBe("2");
    expect((await shownIds()).map(([id]) => id)).toEqual(["python", "bun"]);
    expect(await shownIds()).toContainEqual(["bun", "javascript"]);
    await other.kill();
  });

  it("runs Bash in a shell that goes on, and lines of notebooks", async () => {
    const first = await sandbox.runCode("cd /tmp; OWN=1; echo $WORD $ONCE", {
      language: "bash",
      envs: { ONCE: "once" },
    });
    expect(first).toMatchObject({ logs: { stdout: ["sandbox once\n"], stderr: [] }, results: [], executionCount: 1 });
    const second = await sandbox.runCode("echo $OWN ${ONCE:-none} $PWD; exit 3", { language: "bash" });
    expect(second).toMatchObject({ logs: { stdout: ["1 none /tmp\n"], stderr: [] }, executionCount: 2 });
    expect(second.error).toMatchObject({ name: "SystemExit", value: "3" });
    const context = await sandbox.createCodeContext({ language: "bash" });
    expect(context.language).toBe("bash");
    expect((await sandbox.runCode("echo .$OWN", { context })).logs.stdout).toEqual([".\n"]);
    const known = await sandbox.listCodeContexts();
    expect(known).toEqual(expect.arrayContaining([context]));
    expect(known.filter(({ language }) => language === "bash").length).toBe(2);
    await sandbox.removeCodeContext(context);
    await expect(sandbox.runCode("1", { context })).rejects.toThrow("not found");
    // Python's own variables are none of Bash's, and no code of Bash is Python.
    const quoted = await sandbox.runCode("echo \"'''\"; cat <<'E'\n!no {x}\nE", { language: "bash" });
    expect(quoted.logs.stdout.join("")).toBe("'''\n!no {x}\n");
    expect((await sandbox.runCode("    x = !echo a\n    x")).text).toBe("['a']");
  });

  it("restarts a context with what runs in it, and no other", async () => {
    await sandbox.runCode("beside = 1");
    const context = await sandbox.createCodeContext();
    let hasBegun = false;
    const running = sandbox.runCode("print('begun')\nimport time; time.sleep(300)", {
      context,
      onStdout: () => void (hasBegun = true),
    });
    await expect.poll(() => hasBegun).toBe(true);
    await sandbox.restartCodeContext(context);
    expect((await running).error?.name).toBe("CANCELLED");
    expect((await sandbox.runCode("beside")).text).toBe("1");
    await sandbox.removeCodeContext(context);
  });

  it("gives contexts only with a token of the sandbox, which opens nothing else", async () => {
    const connected = await scene.ask(`POST /v2/sandboxes/${address.id}/connect`, {});
    const traffic = String(connected.body["trafficAccessToken"]);
    const theirs = await scene.ask(
      "POST /v2/sandboxes",
      { templateID: "code-interpreter-v1" },
      { key: scene.other.text },
    );
    const { token: _, ...bare } = address;
    const ask = async (route: string, headers: Record<string, string>, target: SandboxAddress = bare) => {
      const isRead = route.startsWith("GET");
      const response = await scene.askSandbox(target, route, { headers, ...(isRead ? {} : { body: '{"code":"1"}' }) });
      return { status: response.status, text: await response.text() };
    };
    const routes = ["GET /contexts", "POST /contexts", "POST /contexts/python/restart", "DELETE /contexts/python"];
    for (const route of routes) {
      const shown = ["", "x", String(theirs.body["trafficAccessToken"]), String(theirs.body["envdAccessToken"])];
      for (const token of shown) {
        expect((await ask(route, { "e2b-traffic-access-token": token })).status, route).toBe(401);
        expect((await ask(route, { "x-access-token": token })).status, route).toBe(401);
      }
      expect((await ask(route, {})).status, route).toBe(401);
    }
    const headers = { "e2b-traffic-access-token": traffic };
    expect((await ask("GET /contexts", headers)).status).toBe(200);
    expect((await ask("POST /execute", headers)).status).toBe(401);
    expect((await ask("GET /envs", headers, { ...bare, port: 49_983 })).status).toBe(401);
    expect((await ask("GET /envs", { "x-access-token": traffic }, { ...bare, port: 49_983 })).status).toBe(401);
    for (const id of ["..", "%2e%2e", "a%2Fb", "x".repeat(300), "__proto__", "ctx-00000000000000000000"]) {
      const { status, text } = await ask(`DELETE /contexts/${id}x`, headers);
      expect([id, status, text.length < 200]).toEqual([id, 404, true]);
    }
    expect((await execute({ code: "1", context_id: "__proto__" })).status).toBe(404);
    expect((await ask("PUT /contexts", headers)).status).toBe(405);
    expect((await ask("POST /contexts", headers)).text).toContain("code");
  });

  it("bounds its contexts", async () => {
    const other = await Sandbox.create();
    const made = await Promise.allSettled(Array.from({ length: 12 }, () => other.createCodeContext()));
    expect(made.filter(({ status }) => status === "fulfilled").length).toBe(8);
    const refused = made.find((each) => each.status === "rejected");
    expect(String(refused?.reason)).toMatch(/8 contexts/);
    // And the two that are there from the start.
    expect((await other.listCodeContexts()).length).toBe(10);
    await other.kill();
  });

  it("refuses by name what it does not have, and what is too large", async () => {
    const asked: readonly (readonly [object | string, number, RegExp])[] = [
      [{ code: "1", language: "__proto__" }, 400, /expected python/],
      [{ code: "1", language: "python", context_id: "python" }, 400, /context_id or language/],
      [{ code: "1", context_id: "none" }, 404, /Context none not found/],
      [{ code: "1", novelty: 1 }, 400, /novelty/],
      [{}, 400, /code/],
      [{ code: "1", env_vars: { "A=B": "x" } }, 400, /A=B/],
      [{ code: "1", env_vars: { A: 1 } }, 400, /env_vars/],
      ["{", 400, /JSON/],
      [{ code: `x = '${"x".repeat(1_100_000)}'` }, 413, /at most/],
      [
        { code: "1", env_vars: Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`V${index}`, ""])) },
        400,
        /env/,
      ],
    ];
    for (const [body, status, words] of asked) {
      const answer = await execute(body);
      expect([answer.status, answer.answer.slice(0, 300)]).toEqual([status, expect.stringMatching(words)]);
    }
    await expect(sandbox.runCode("1", { language: "r" })).rejects.toThrow(/expected python, .*got "r"/);
    const plain = await PlainSandbox.create();
    const none = await execute({ code: "1" }, await addressOf(plain.sandboxId));
    expect([none.status, none.answer]).toEqual([404, expect.stringContaining("code-interpreter-v1")]);
    expect((await scene.askSandbox(address, "GET /nothing")).status).toBe(404);
    const health = await scene.askSandbox(address, "GET /health");
    expect([health.status, await health.text()]).toEqual([200, '"OK"']);
  });

  it("ends with its sandbox", async () => {
    const other = await Sandbox.create();
    const running = other.runCode("import time\nprint('begun')\ntime.sleep(100)", { timeoutMs: 0 });
    running.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await other.kill();
    await expect(running).rejects.toThrow(/sandbox was killed/i);
  });
});
