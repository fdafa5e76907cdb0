import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { actingPackage } from "../helpers/acting-package.ts";
import { sessionImages } from "../helpers/test-images.ts";
import type { RunCodeRequest, RunCodeResponse } from "../helpers/wire-glovebox.ts";

const registry = await PackageRegistry.start();
registry.addWheel(actingPackage);
registry.addWheel({ name: "gb_more", version: "1.0", files: { "gb_more/__init__.py": "word = 'more'\n" } });
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-imports-")));
writeFileSync(path.join(folder, "key"), "sk-imports-ahead");
afterAll(() => {
  registry[Symbol.dispose]();
  execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", folder]);
});

/** Everything by which a program could differ from one that has made its own imports. */
const world = `import gb_acting, gc, os, sys, threading
print(sorted(sys.modules), sys.path, sys.argv, sys.flags, sorted(os.environ.items()), os.getcwd(), __name__, __file__)
print(sorted(os.listdir('/proc/self/fd')), threading.active_count(), sorted(globals()), sys.orig_argv, gc.isenabled())`;
const asks = "import gb_acting\nprint(gb_acting.ahead)";
const acts = (act: string): string => `open('/work/act.py', 'w').write(${JSON.stringify(act)})`;

describe.each(engines)("the packages that calls of a session on %s import", (engine) => {
  const glovebox = useGlovebox(engine, {
    settings: {
      images: sessionImages,
      network: registry.network,
      packages: { directory: path.join(folder, engine) },
      secrets: { KEY: { file: path.join(folder, "key") } },
    },
  });
  // The testbed's image for sessions has no pip.
  const image = engine === "local" ? {} : { image: sessionImages.python };

  async function open(): Promise<(code: string, more?: Partial<RunCodeRequest>) => Promise<RunCodeResponse>> {
    const asked: Omit<RunCodeRequest, "code"> = { language: "python", packages: ["gb_acting"] };
    const { session_id: id } = await glovebox().runCode({ ...asked, ...image, code: "pass" });
    return (code, more = {}) => glovebox().runCode({ ...asked, code, session_id: id, ...more });
  }

  it("are there when the next one begins, which is a fresh program all the same", async () => {
    const run = await open();
    const ordinary = await run(world);
    expect(ordinary.stdout, ordinary.stderr).toContain("'gb_acting'");
    expect(await run(asks)).toMatchObject({ stdout: "True\n" });
    expect(await run(world)).toMatchObject({ stdout: ordinary.stdout, outcome: "completed" });

    const code = `import sys
print('gb_acting' in sys.modules, sys.argv[1:], sys.stdin.read())
import atexit, gb_acting
print(gb_acting.state, gb_acting.ahead)
gb_acting.state.append(1)
atexit.register(print, 'bye')
print('err', file=sys.stderr)
open('/work/hash', 'a').write(str(hash('x')) + '\\n')
sys.exit(3)`;
    for (let count = 0; count < 2; count += 1) {
      const answer = await run(code, { args: ["a b"], stdin: "in" });
      expect(answer).toMatchObject({ outcome: "failed", exit_code: 3, stderr: "err\n" });
      expect(answer.stdout).toBe("True ['a b'] in\n[] True\nbye\n");
    }
    expect(await run("print(len(set(open('/work/hash'))))")).toMatchObject({ stdout: "2\n" });

    const failed = await run("import gb_acting\nraise ValueError(gb_acting.ahead)");
    expect(failed.stderr).toBe(
      'Traceback (most recent call last):\n  File "/code/main.py", line 2, in <module>\n    raise ValueError(gb_acting.ahead)\nValueError: True\n',
    );
    const late = await run("import subprocess\nsubprocess.Popen(['sleep', '60'])\nwhile True: pass", {
      timeout_seconds: 1,
    });
    expect(late).toMatchObject({ outcome: "timed_out", timed_out: true });
    const killed = await run("import gb_acting, os\nprint(gb_acting.ahead, flush=True)\nos.kill(os.getpid(), 9)");
    expect(killed).toMatchObject({ outcome: "failed", exit_code: 137, stdout: "True\n" });
  });

  it("are imported by the program itself with secrets, after another package was added, and beside a process", async () => {
    const run = await open();
    await run(asks);
    expect(await run(asks, { secrets: ["KEY"] })).toMatchObject({ stdout: "False\n" });
    expect(await run(asks)).toMatchObject({ stdout: "True\n" });
    const more = `${asks}\nimport gb_more\nprint(gb_more.word)`;
    expect(await run(more, { packages: ["gb_acting", "gb_more"] })).toMatchObject({ stdout: "False\nmore\n" });
    const { session_id: id } = await run(asks);
    expect(await run(asks)).toMatchObject({ stdout: "True\n" });
    const { processes } = glovebox();
    const { process_id: process } = await processes.start({ session_id: id, command: ["sleep", "600"] });
    expect(await run(asks)).toMatchObject({ stdout: "False\n" });
    expect(await run(asks)).toMatchObject({ stdout: "False\n" });
    await processes.stop({ process_id: process });
    expect(await run(asks)).toMatchObject({ stdout: "False\n" });
    expect(await run(asks)).toMatchObject({ stdout: "True\n" });
  });

  it("are imported by the program itself when importing them is seen, and from then on when it is seen again", async () => {
    const run = await open();
    await run(asks);
    const seen: readonly (readonly [string, string])[] = [
      ["print('said')", "said\nFalse\n"],
      ["import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()", "False\n"],
      ["import os\nif not ahead: print('own')\nelse: os._exit(1)", "own\nFalse\n"],
    ];
    for (const [act, stdout] of seen) {
      expect(await run(acts(act))).toMatchObject({ outcome: "completed" });
      expect(await run(asks)).toMatchObject({ outcome: "completed", stdout, stderr: "" });
      await run("import os\nos.unlink('/work/act.py')");
    }
    expect(await run(asks)).toMatchObject({ outcome: "completed", stdout: "False\n" });
  });
});
