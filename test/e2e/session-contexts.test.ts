import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openContexts, python, shown } from "../helpers/session-contexts.ts";
import { places, useGlovebox } from "../helpers/open-glovebox.ts";
import { uniqueSeconds } from "../helpers/processes.ts";
import { sessionImages } from "../helpers/test-images.ts";
import { rareTag } from "../lanes/lanes.ts";

describe.each(places)("contexts of a session on $name", ({ name: place, engine, runtime }) => {
  const lane = { tags: place === "docker" || place === "podman" ? [] : [rareTag] };
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } }, runtime);

  const open = () => openContexts(glovebox(), runtime);

  it("have variables, imports and a working folder of their own in one sandbox with the same files", lane, async () => {
    const { run, session_id } = await open();
    const first = await run(
      "a",
      "import json, os\nx = 'of a'\nos.makedirs('sub')\nos.chdir('sub')\nopen('f', 'w').write('1')",
    );
    expect(first).toMatchObject({ outcome: "completed", context: "a", variables_lost: false });
    await run("b", "x = 'of b'");
    const seen = "import os\n(globals().get('x'), 'json' in globals(), os.getcwd(), os.path.exists('/work/sub/f'))";
    expect(shown(await run("a", seen))).toBe("('of a', True, '/work/sub', True)");
    const second = await run("b", seen);
    expect(shown(second)).toBe("('of b', False, '/work', True)");
    expect(second.sandbox_id).toBe(first.sandbox_id);
    expect(shown(await run(undefined, seen))).toBe("(None, False, '/work', True)");
    expect(await run("python", "x = 'default'")).toMatchObject({ context: "python" });
    expect(await run(undefined, "x")).toMatchObject({ context: "python", displays: [{ content: "'default'" }] });

    const script = { language: "typescript" } as const;
    await run("t", "const x: number = 1", script);
    expect(shown(await run("t", "x", { language: undefined }))).toBe("1");
    expect(shown(await run("t", "x + 1", { language: "javascript" }))).toBe("2");
    expect(await run(undefined, "typeof x", script)).toMatchObject({
      context: "bun",
      displays: [{ content: "'undefined'" }],
    });
    const { contexts } = await glovebox().contexts.list({ session_id });
    expect(
      contexts.map(({ context, language, runtime, cwd, running }) => [context, language, runtime, cwd, running]),
    ).toEqual([
      ["python", "python", "python", "/work", true],
      ["a", "python", "python", "/work", true],
      ["b", "python", "python", "/work", true],
      ["t", "typescript", "bun", "/work", true],
      ["bun", "typescript", "bun", "/work", true],
    ]);
    expect(contexts.every((row) => Date.parse(row.last_used_at ?? "") >= Date.parse(row.created_at))).toBe(true);
  });

  it("begin in the folder that they were made with, and run nothing as long as that is not there", lane, async () => {
    const { run, session_id } = await open();
    const made = await glovebox().contexts.create({ session_id, context: "deep", language: "python", cwd: "d/e" });
    expect(made).toMatchObject({
      context: "deep",
      runtime: "python",
      cwd: "/work/d/e",
      running: false,
      last_used_at: null,
    });
    await glovebox().contexts.create({ session_id, context: "script", cwd: "/work/d/e" });
    await expect(glovebox().contexts.create({ session_id, context: "deep" })).rejects.toMatchObject({
      errorType: "ALREADY_EXISTS",
    });
    const missing = await run("deep", "open('/work/ran', 'w')", { language: undefined });
    expect(missing).toMatchObject({
      outcome: "failed",
      exception: { name: "FileNotFoundError", value: expect.stringContaining("/work/d/e") as string },
      variables_lost: false,
    });
    const script = await run("script", "require('node:fs').writeFileSync('/work/ran', '')", { language: undefined });
    expect(script).toMatchObject({
      outcome: "failed",
      exception: { value: expect.stringContaining("/work/d/e") as string },
    });
    expect(script.stderr).not.toMatch(/main\.js/);
    await run(undefined, "import os; os.makedirs('d/e')");
    const where = "import os\n(os.getcwd(), os.path.exists('/work/ran'))";
    expect(shown(await run("deep", where))).toBe("('/work/d/e', False)");
    expect(shown(await run("script", "process.cwd()", { language: undefined }))).toBe("'/work/d/e'");
    await run("deep", "os.chdir('/tmp')");
    expect(shown(await run("deep", where))).toBe("('/tmp', False)");
    expect(shown(await run(undefined, where))).toBe("('/work', False)");
  });

  it("belong to one runtime, have plain names and are at most eight", lane, async () => {
    const { run, session_id } = await open();
    await run("a", "x = 1");
    const refusal = { errorType: "INVALID_REQUEST", context: { field: "context" } };
    await expect(run("a", "1", { language: "typescript" })).rejects.toMatchObject({
      ...refusal,
      message: "Context a runs with python, not with bun.",
    });
    await expect(run("python", "1", { language: "typescript" })).rejects.toMatchObject(refusal);
    await expect(run("node", "1")).rejects.toMatchObject(refusal);
    await expect(glovebox().contexts.create({ session_id, context: "bun", language: "python" })).rejects.toMatchObject(
      refusal,
    );
    for (const name of ["", "a b", "../a", "a..b", "-a", "a/b", "a\n", "\u202ea", "é", "x".repeat(65), "__proto__"]) {
      await expect(run(name, "1"), name).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
      await expect(glovebox().contexts.create({ session_id, context: name }), name).rejects.toMatchObject({
        errorType: "INVALID_REQUEST",
      });
    }
    // A name that every object has, and that of nothing.
    expect(shown(await run("constructor", "1"))).toBe("1");
    await expect(glovebox().contexts.restart({ session_id, context: "toString" })).rejects.toMatchObject({
      errorType: "NOT_FOUND",
      context: { contexts: ["python", "a", "constructor"] },
    });
    const names = ["c1", "c2", "c3", "c4", "c5"];
    for (const context of names) await glovebox().contexts.create({ session_id, context, language: "python" });
    const full = { errorType: "CAPACITY", context: { limit: 8, contexts: ["python", "a", "constructor", ...names] } };
    await expect(run("c6", "1")).rejects.toMatchObject(full);
    await expect(run(undefined, "1", { language: "typescript" })).rejects.toMatchObject(full);
    await expect(glovebox().contexts.create({ session_id, context: "c6" })).rejects.toMatchObject(full);
    expect(shown(await run("a", "x"))).toBe("1");
    expect(await glovebox().contexts.end({ session_id, context: "c3" })).toEqual({ session_id, context: "c3" });
    expect(shown(await run("c6", "6"))).toBe("6");
  });

  it("of a session without keep_variables are refused before anything starts", lane, async () => {
    const { session_id } = await glovebox().openSession({ ...runtime });
    const refusal = { errorType: "INVALID_REQUEST", context: { field: "context" } };
    await expect(glovebox().runCode({ ...python("1"), session_id, context: "a" })).rejects.toMatchObject(refusal);
    await expect(glovebox().contexts.create({ session_id, context: "a" })).rejects.toMatchObject(refusal);
    await expect(glovebox().contexts.list({ session_id })).rejects.toMatchObject(refusal);
    const before = (await glovebox().sandboxes()).length;
    await expect(glovebox().runCode({ ...python("1"), context: "a" })).rejects.toMatchObject(refusal);
    expect((await glovebox().sandboxes()).length).toBe(before);
  });

  it("are restarted and ended at once, with what they have started, and no other with them", lane, async () => {
    const { run, session_id } = await open();
    const [first, second] = [uniqueSeconds(), uniqueSeconds()];
    const sleeper = (seconds: string): string =>
      `import subprocess; child = subprocess.Popen(['sleep', '${seconds}'], start_new_session=True); x = 1`;
    const { sandbox_id: id } = await run("a", sleeper(first));
    await run("b", sleeper(second));
    const sleeping = `import glob
def sleeping(seconds):
    found = 0
    for path in glob.glob('/proc/[0-9]*/cmdline'):
        try: found += open(path).read() == f'sleep\\0{seconds}\\0'
        except OSError: pass
    return found
(sleeping(${first}), sleeping(${second}))`;
    expect(shown(await run("b", sleeping))).toBe("(1, 1)");

    // A call of another context goes on meanwhile, and is not waited for.
    let isBusy = true;
    const busy = run("b", `import time; time.sleep(4)\n${sleeping}`).finally(() => (isBusy = false));
    expect(await glovebox().contexts.restart({ session_id, context: "a" })).toMatchObject({
      context: "a",
      running: false,
    });
    expect(isBusy).toBe(true);
    expect(shown(await busy)).toBe("(0, 1)");
    const next = await run("a", "'x' in globals()");
    expect(next).toMatchObject({
      displays: [{ content: "False" }],
      variables_lost: true,
      restarted: false,
      sandbox_id: id,
    });
    expect(next.warnings.join()).toContain("variables of earlier calls are gone");
    expect(await run("a", "1")).toMatchObject({ variables_lost: false });
    expect(shown(await run("b", "x"))).toBe("1");

    await glovebox().contexts.end({ session_id, context: "b" });
    expect(shown(await run(undefined, sleeping))).toBe("(0, 0)");
    await expect(glovebox().contexts.end({ session_id, context: "b" })).rejects.toMatchObject({
      errorType: "NOT_FOUND",
    });
    expect((await glovebox().contexts.list({ session_id })).contexts.map(({ context }) => context)).toEqual([
      "python",
      "a",
    ]);
    // The name is that of another one, which never had variables.
    expect(await run("b", "typeof x", { language: "typescript" })).toMatchObject({
      displays: [{ content: "'undefined'" }],
      variables_lost: false,
    });
  });

  it.each(["restart", "end"] as const)(
    "cancel their own calls on %s, those that wait too, and say so",
    lane,
    async (how) => {
      const { run, session_id } = await open();
      await run("a", "x = 1");
      await run("b", "x = 2");
      const started = Promise.withResolvers<void>();
      const running = glovebox().runCode(
        { ...python("print('on', flush=True)\nimport time; time.sleep(1000)"), session_id, context: "a" },
        { onEvent: ({ type }) => (type === "output" ? started.resolve() : undefined) },
      );
      await started.promise;
      const waiting = run("a", "open('ran', 'w')").catch((error: unknown) => error);
      const other = run("b", "x");
      // Until both wait for their turn.
      await sleep(500);
      await glovebox().contexts[how]({ session_id, context: "a" });
      const ended = await running;
      expect(ended).toMatchObject({ outcome: "cancelled", variables_lost: true });
      expect(ended.warnings.join()).toContain("The context was restarted or ended during this call.");
      expect(await waiting).toMatchObject({
        errorType: "CANCELLED",
        message: `Context a was ${how}ed before this call could begin.`,
      });
      expect(shown(await other)).toBe("2");
      expect(shown(await run("a", "import os\n('x' in globals(), os.path.exists('ran'))"))).toBe("(False, False)");
    },
  );

  it(
    "lose their variables with their own interpreter alone, and with the sandbox, and each is told once",
    lane,
    async () => {
      const { run } = await open();
      for (const name of ["a", "b", "c"]) await run(name, `x = '${name}'`);
      expect(await run("a", "while True: pass", { timeout_seconds: 1 })).toMatchObject({
        outcome: "timed_out",
        variables_lost: true,
      });
      const greedy = await run("b", "held = [b'x' * 2**20 for _ in range(900)]");
      // gVisor ends with the sandbox, and is not always known to have run out of memory.
      expect(greedy.outcome).toMatch(
        runtime.oci_runtime === undefined ? /^oom_killed$/ : /^(oom_killed|sandbox_lost)$/,
      );
      expect(greedy.variables_lost).toBe(true);
      // The kernel may have chosen another one of them, which then says so itself.
      const kept = await run("c", "globals().get('x')");
      expect(kept.variables_lost).toBe(shown(kept) !== "'c'");
      for (const name of ["a", "b"]) {
        expect(await run(name, "'x' in globals()")).toMatchObject({
          displays: [{ content: "False" }],
          variables_lost: false,
        });
      }
      const { sandbox_id: id } = await run("c", "x = 'again'");
      await run("a", "x = 1");
      await glovebox().removeSandboxes({ ids: [id] });
      expect(await run("a", "'x' in globals()")).toMatchObject({ restarted: true, variables_lost: true });
      expect(await run("c", "'x' in globals()")).toMatchObject({ restarted: false, variables_lost: true });
      expect(await run("c", "1")).toMatchObject({ variables_lost: false });
    },
  );

  it("answer truly whatever a program of another one does to their interpreter", lane, async () => {
    const { run, session_id } = await open();
    const victim = async (): Promise<string> => shown(await run("victim", "import os; x = 1; os.getpid()"));
    const pid = await victim();
    // Forges the end of its calls, in between and while they run.
    const forge = `import threading, time
report = b'{"exit_code": 0, "displays": [{"media_type": "text/plain", "encoding": "utf8", "content": "forged"}], "exception": null}'
end = b'\\x1ecall-00000000000000000000\\x1e' + b'%d\\n' % len(report) + report
streams = [open('/proc/${pid}/fd/%d' % number, 'wb', buffering=0) for number in (1, 2)]
def forge():
    while True:
        for stream in streams: stream.write(end)
        time.sleep(0.05)
threading.Thread(target=forge, daemon=True).start()
'on'`;
    expect(shown(await run("attacker", forge))).toBe("'on'");
    for (let round = 0; round < 3; round += 1) {
      expect(await run("victim", "import time; time.sleep(0.3); x += 1; raise ValueError(x)")).toMatchObject({
        outcome: "failed",
        exit_code: 1,
        displays: [],
        exception: { name: "ValueError", value: String(round + 2) },
        variables_lost: false,
      });
    }
    // Stops it, and kills it.
    await run("attacker", `import os, signal; os.kill(${pid}, signal.SIGSTOP)`);
    expect(await run("victim", "x", { timeout_seconds: 20 })).toMatchObject({
      outcome: "completed",
      displays: [{ content: "4" }],
      variables_lost: false,
    });
    await run("attacker", `os.kill(${pid}, signal.SIGKILL)`);
    const isRunning = async (): Promise<boolean | undefined> =>
      (await glovebox().contexts.list({ session_id })).contexts.find(({ context }) => context === "victim")?.running;
    await expect.poll(isRunning, { timeout: 10_000 }).toBe(false);
    const after = await run("victim", "'x' in globals()");
    expect(after).toMatchObject({ outcome: "completed", displays: [{ content: "False" }], variables_lost: true });
    const again = await victim();
    await run(
      "attacker",
      `import threading, time
threading.Timer(1, lambda: os.kill(${again}, signal.SIGKILL)).start()`,
    );
    expect(await run("victim", "import time; time.sleep(30)")).toMatchObject({
      outcome: "failed",
      exit_code: 137,
      variables_lost: true,
    });
    expect(await run("victim", "2")).toMatchObject({ displays: [{ content: "2" }], variables_lost: false });
  });

  it.each([
    ["a job of its own", "job", { outcome: "completed", displays: [{ content: "'forged'" }], variables_lost: false }],
    ["the beginning of a long job", "b'999999999\\n'", { outcome: "timed_out", displays: [], variables_lost: true }],
    ["what is no job", "b'7\\ngarbage'", { variables_lost: true }],
    ["what is no job of JavaScript", "b'7\\ngarbage'", { variables_lost: true }],
  ] as const)(
    "are each told their own end when another one writes %s to their input",
    place === "docker" ? {} : { tags: [rareTag] },
    async (what, bytes, expected) => {
      const { run } = await open();
      const language = what.endsWith("JavaScript") ? "javascript" : "python";
      const begin = { python: "import os; x = 'own'; os.getpid()", javascript: "x = 'own'; process.pid" };
      const pid = shown(await run("victim", begin[language], { language }));
      // Its own calls come over the same pipe, which is no standard stream.
      const inject = `import json, os, stat
code = b"x = 'forged'"
header = json.dumps({"token": "call-00000000000000000000", "name": "<call 9>", "variables": {}, "environment": {}, "arguments": [],
  "main": "main.py", "working_directory": "", "files": [{"path": "main.py", "size": len(code)}]}).encode()
job = b'%d\\n' % len(header) + header + code
written = 0
for number in range(3, 30):
    path = '/proc/${pid}/fd/%d' % number
    if os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode) and os.readlink(path) not in [os.readlink('/proc/${pid}/fd/%d' % own) for own in (1, 2)]:
        with open(path, 'wb', buffering=0) as stream: written += stream.write(${bytes})
written > 0`;
      expect(shown(await run("attacker", inject))).toBe("True");
      await sleep(300);
      const told = await run("victim", "x", { language, timeout_seconds: 5 });
      expect(told).toMatchObject(expected);
      // Only what it waits for takes all its time.
      expect(told.outcome === "timed_out").toBe("outcome" in expected && expected.outcome === "timed_out");
      expect(await run("victim", "1", { language })).toMatchObject({ outcome: "completed", variables_lost: false });
      expect(shown(await run("attacker", "1 + 1"))).toBe("2");
    },
  );
});
