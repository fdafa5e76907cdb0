import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { places, useGlovebox } from "../helpers/open-glovebox.ts";
import { uniqueSeconds } from "../helpers/processes.ts";
import { openContexts, shown } from "../helpers/session-contexts.ts";
import { sessionImages } from "../helpers/test-images.ts";
import type { RunCodeRequest, RunCodeResponse } from "../helpers/wire-glovebox.ts";
import { rareTag } from "../lanes/lanes.ts";

describe.each(places)("calls of different contexts on $name", ({ name: place, engine, runtime }) => {
  const lane = { tags: place === "docker" || place === "podman" ? [] : [rareTag] };
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } }, runtime);
  const open = () => openContexts(glovebox(), runtime);

  it("run at once, each with the output of its own call, in any language", lane, async () => {
    const { run } = await open();
    // Each waits for what the other one writes.
    const meets = (own: string, other: string): string => `import os, time
open('${own}', 'w').close()
while not os.path.exists('${other}'): time.sleep(0.01)
for number in range(200): print('${own}', number)
x = '${own}'
x`;
    const script = `const fs = require('node:fs');
fs.writeFileSync('c', '');
while (!fs.existsSync('a') || !fs.existsSync('b')) await new Promise((resolve) => setTimeout(resolve, 10));
for (let number = 0; number < 200; number += 1) console.log('c', number);
'c'`;
    const results = await Promise.all([
      run("a", meets("a", "b")),
      run("b", meets("b", "c")),
      run("c", script, { language: "javascript" }),
    ]);
    for (const [index, name] of ["a", "b", "c"].entries()) {
      expect(results[index]).toMatchObject({
        outcome: "completed",
        stdout: Array.from({ length: 200 }, (_, number) => `${name} ${number}\n`).join(""),
        displays: [{ content: `'${name}'` }],
        restarted: false,
      });
    }
    expect(new Set(results.map(({ sandbox_id: id }) => id)).size).toBe(1);
    // Those of one context come one after another.
    const [first, second] = await Promise.all([
      run("a", "import time; time.sleep(0.5); order = [x]"),
      run("a", "order.append('second'); order"),
    ]);
    expect([first.outcome, shown(second)]).toEqual(["completed", "['a', 'second']"]);
  });

  it("begin at once in new interpreters", lane, async () => {
    const { run } = await open();
    const names = ["c1", "c2", "c3", "c4", "c5"];
    for (let round = 0; round < 3; round += 1) {
      const results = await Promise.all(names.map((name) => run(name, `x = '${name}'; x`)));
      expect(results.map(shown)).toEqual(names.map((name) => `'${name}'`));
      // Timeouts end all of them at the same time.
      const ended = await Promise.all(names.map((name) => run(name, "while True: pass", { timeout_seconds: 0.5 })));
      expect(ended.map(({ outcome, variables_lost: lost }) => [outcome, lost])).toEqual(
        names.map(() => ["timed_out", true]),
      );
    }
  });

  it("have time limits of their own, which end what one call has started and nothing of another's", lane, async () => {
    const { run } = await open();
    await run("b", "x = 1");
    const seconds = uniqueSeconds();
    const busy = run("b", "import time\nfor _ in range(50): time.sleep(0.1); x += 1\nx");
    const late = await run("a", `import subprocess, time; subprocess.Popen(['sleep', '${seconds}'])\ntime.sleep(99)`, {
      timeout_seconds: 1,
    });
    expect(late).toMatchObject({ outcome: "timed_out", variables_lost: true });
    const left = `import glob
found = 0
for path in glob.glob('/proc/[0-9]*/cmdline'):
    try: found += open(path).read() == 'sleep\\0${seconds}\\0'
    except OSError: pass
found`;
    expect(shown(await run("c", left))).toBe("0");
    expect(await busy).toMatchObject({ outcome: "completed", displays: [{ content: "51" }], variables_lost: false });
    expect(shown(await run("b", "x"))).toBe("51");
  });

  it("answer truly while a program of another one kills, stops or feeds the interpreter", lane, async () => {
    const { run } = await open();
    const begin = async (): Promise<string> => shown(await run("victim", "import os, time; x = 1; os.getpid()"));
    const attack = async (code: string): Promise<readonly RunCodeResponse[]> => {
      const pid = await begin();
      return Promise.all([
        run("victim", "open('on', 'w').close()\ntime.sleep(1.5)\nprint('mine')\nx", { timeout_seconds: 10 }),
        run(
          "attacker",
          `import os, signal, time
while not os.path.exists('on'): time.sleep(0.01)
os.remove('on')
pid = ${pid}
${code}
print('done')`,
        ),
      ]);
    };
    const done = { outcome: "completed", stdout: "done\n" };
    const own = { outcome: "completed", stdout: "mine\n", displays: [{ content: "1" }], variables_lost: false };
    const [killed, killer] = await attack("os.kill(pid, signal.SIGKILL)");
    expect(killed).toMatchObject({ outcome: "failed", exit_code: 137, stdout: "", variables_lost: true });
    expect(killer).toMatchObject(done);
    const [stopped, stopper] = await attack(
      "os.kill(pid, signal.SIGSTOP); time.sleep(2); os.kill(pid, signal.SIGCONT)",
    );
    expect([stopped, stopper]).toMatchObject([own, done]);
    // The end of a call that is not the one that runs, and a report behind it.
    const [fed, feeder] = await attack(`report = b'{"exit_code": 0, "displays": [], "exception": null}'
with open(f'/proc/{pid}/fd/1', 'wb', buffering=0) as stream:
    stream.write(b'\\x1ecall-00000000000000000000\\x1e%d\\n' % len(report) + report)`);
    expect(feeder).toMatchObject(done);
    expect(fed).toMatchObject({ outcome: "completed", displays: [{ content: "1" }], variables_lost: false });
    expect(fed?.stdout).toMatch(/mine\n$/);
  });

  describe("are interrupted", () => {
    /** A call that is interrupted as soon as it has written something. */
    async function interrupted(
      context: string,
      request: Partial<RunCodeRequest> & { code: string },
      session_id: string,
    ) {
      const started = Promise.withResolvers<void>();
      const call = glovebox().runCode(
        { language: "python", packages: [], session_id, context, ...request },
        { onEvent: ({ type }) => (type === "output" ? started.resolve() : undefined) },
      );
      await Promise.race([started.promise, call]);
      const row = await glovebox().contexts.interrupt({ session_id, context });
      expect(row).toMatchObject({ context, running: true });
      return call;
    }

    it("and keep their variables, whatever the call waits for or works at", lane, async () => {
      const { run, session_id } = await open();
      await run("a", "import time, subprocess, asyncio; x = 0");
      await run("b", "x = 'of b'");
      for (const work of [
        "time.sleep(99)",
        "while True: pass",
        "subprocess.run(['sleep', '99'])",
        "await asyncio.sleep(99)",
      ]) {
        const ended = await interrupted("a", { code: `x += 1; print('on', flush=True)\n${work}` }, session_id);
        expect(ended, work).toMatchObject({
          outcome: "failed",
          exit_code: 1,
          stdout: "on\n",
          exception: { name: "KeyboardInterrupt" },
          variables_lost: false,
        });
        expect(ended.stderr).not.toContain("main.py");
      }
      // Between calls there is nothing to interrupt.
      for (let count = 0; count < 5; count += 1) await glovebox().contexts.interrupt({ session_id, context: "a" });
      const pid = shown(await run("a", "import os; os.getpid()"));
      await run("b", `import os, signal; os.kill(${pid}, signal.SIGINT)`);
      expect(await run("a", "x")).toMatchObject({ displays: [{ content: "4" }], variables_lost: false });
      expect(shown(await run("b", "x"))).toBe("'of b'");
      await expect(glovebox().contexts.interrupt({ session_id, context: "none" })).rejects.toMatchObject({
        errorType: "NOT_FOUND",
      });
    });

    it("in JavaScript while they wait", lane, async () => {
      const { run, session_id } = await open();
      const script = { language: "javascript" } as const;
      await run("s", "const x = 1; process.removeAllListeners('SIGINT')", script);
      const code = "console.log('on'); await new Promise((resolve) => setTimeout(resolve, 99_000))";
      expect(await interrupted("s", { code, ...script }, session_id)).toMatchObject({
        outcome: "failed",
        exception: { name: "Interrupted", value: "The call was interrupted." },
        variables_lost: false,
      });
      await glovebox().contexts.interrupt({ session_id, context: "s" });
      expect(await run("s", "x", script)).toMatchObject({ displays: [{ content: "1" }], variables_lost: false });
      const busy = { code: "console.log('on'); while (true);", timeout_seconds: 3, ...script };
      expect(await interrupted("s", busy, session_id)).toMatchObject({ outcome: "timed_out", variables_lost: true });
    });

    it("and gain no time by not obeying, nor spoil later interrupts", lane, async () => {
      const { run, session_id } = await open();
      await run("a", "import signal, time");
      const deaf = `print('on', flush=True)
while True:
    try: time.sleep(99)
    except BaseException: print('no', flush=True)`;
      const began = performance.now();
      const ended = await interrupted("a", { code: deaf, timeout_seconds: 3 }, session_id);
      expect(ended).toMatchObject({ outcome: "timed_out", stdout: "on\nno\n", variables_lost: true });
      expect(performance.now() - began).toBeLessThan(15_000);
      await run("a", "import signal, time; x = 1; signal.signal(signal.SIGINT, signal.SIG_IGN)");
      const next = await interrupted("a", { code: "print('on', flush=True); time.sleep(99)" }, session_id);
      expect(next).toMatchObject({ exception: { name: "KeyboardInterrupt" }, variables_lost: false });
      // However many come while the first is told.
      const slow = `class Slow(KeyboardInterrupt):
    def __str__(self): time.sleep(0.5); return 'slow'
print('on', flush=True)
try: time.sleep(99)
except KeyboardInterrupt as error: raise Slow`;
      const told = interrupted("a", { code: slow }, session_id);
      for (let count = 0; count < 5; count += 1) {
        await sleep(100);
        await glovebox().contexts.interrupt({ session_id, context: "a" });
      }
      const { outcome, variables_lost: lost } = await told;
      expect([outcome, lost]).toEqual(["failed", false]);
      expect(await run("a", "x")).toMatchObject({ displays: [{ content: "1" }], variables_lost: false });
    });
  });

  it("share the session's memory: one that takes too much ends, and the session goes on", lane, async () => {
    const { run } = await open();
    const greedy = "held = [b'x' * 2**20 for _ in range(300)]\nimport time; time.sleep(2)\nlen(held)";
    const results = await Promise.all([run("a", greedy), run("b", greedy)]);
    const outcomes = results.map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => /^(oom_killed|sandbox_lost)$/.test(outcome)).length).toBeGreaterThan(0);
    for (const { outcome, variables_lost: lost } of results) expect(lost).toBe(outcome !== "completed");
    expect(shown(await run("c", "1"))).toBe("1");
  });
});
