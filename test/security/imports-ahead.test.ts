import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { actingPackage } from "../helpers/acting-package.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { sessionImages } from "../helpers/test-images.ts";
import type { RunCodeRequest, RunCodeResponse } from "../helpers/wire-glovebox.ts";

const registry = await PackageRegistry.start();
registry.addWheel(actingPackage);
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-ahead-")));
const value = "sk-for-one-call-alone";
writeFileSync(path.join(folder, "key"), value);
afterAll(() => {
  registry[Symbol.dispose]();
  execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", folder]);
});

/** Escapes from the importing interpreter through a process that leaves no trace in it, which then does this. */
const orphan = (does: string): string => `import os, time
if ahead:
    process = os.getpid()
    first = os.fork()
    if first == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in range(64):
                try: os.close(descriptor)
                except OSError: pass
            ${does}
            time.sleep(600)
        os._exit(0)
    os.waitpid(first, 0)`;

/** What another program of the same user is seen to run, by its process id. */
const others = `import os
def alive(number):
    try: return os.stat('/proc/' + number).st_uid == os.getuid() and open('/proc/' + number + '/stat').read().rpartition(')')[2].split()[0] not in 'ZX'
    except OSError: return False
seen = [number for number in os.listdir('/proc') if number.isdigit() and int(number) not in (1, os.getpid(), os.getppid()) and alive(number)]
print(os.environ['KEY'] == '${value}', [open('/proc/' + number + '/comm').read().strip() for number in seen])`;

describe.each(engines)("a package that is imported before a session's next call on %s", (engine) => {
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

  /** A session whose next call finds an interpreter that has begun to import a package which does this. */
  async function attacked(
    act: string,
  ): Promise<(code: string, more?: Partial<RunCodeRequest>) => Promise<RunCodeResponse>> {
    const asked: Omit<RunCodeRequest, "code"> = { language: "python", packages: ["gb_acting"], ...image };
    const code = `import gb_acting\nopen('/work/act.py', 'w').write(${JSON.stringify(act)})`;
    const { session_id: id, outcome } = await glovebox().runCode({ ...asked, code });
    expect(outcome).toBe("completed");
    return (next, more = {}) => glovebox().runCode({ ...asked, code: next, session_id: id, ...more });
  }

  it("holds up no call by stopping the interpreter that waits", async () => {
    const run = await attacked(orphan("time.sleep(0.3); os.kill(process, 19)"));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const next = await run("print('ran')", { timeout_seconds: 20 });
    expect(next).toMatchObject({ outcome: "completed", stdout: "ran\n", timed_out: false });
  });

  it("leaves nothing beside a call with a secret, and does not run before it", async () => {
    const run = await attacked(orphan("pass"));
    const next = await run(others, { secrets: ["KEY"] });
    expect(next).toMatchObject({ outcome: "completed", stdout: "True []\n", restarted: false });
  });

  it("takes no job with a secret by answering for the interpreter", async () => {
    const run = await attacked(`import os
if ahead:
    for descriptor in range(3, 32):
        try: os.write(descriptor, b'1\\n2\\n')
        except OSError: pass
    for descriptor in range(3, 32):
        try: open('/work/stolen', 'ab').write(os.read(descriptor, 100000))
        except OSError: pass
    os._exit(0)`);
    const code = `import os\nos.unlink('/work/act.py')\nprint(os.environ['KEY'] == '${value}', os.path.exists('/work/stolen') and os.environ['KEY'] in open('/work/stolen').read())`;
    expect(await run(code, { secrets: ["KEY"] })).toMatchObject({ outcome: "completed", stdout: "True False\n" });
    expect(await run("print('ran')")).toMatchObject({ outcome: "completed", stdout: "ran\n" });
  });
});
