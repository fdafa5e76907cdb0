import { existsSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RunCodeRequest } from "../helpers/wire-glovebox.ts";
import type { Settings } from "../../src/config/load-config.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { openPreloadGlovebox, type PreloadGlovebox } from "../helpers/preload-glovebox.ts";
import { Outside, readPreloadProbes } from "./preload-probes.ts";

const python = readPreloadProbes("python");
const javascript = readPreloadProbes("javascript");
const hostPython = process.env["GLOVEBOX_TEST_PYTHON"] ?? "/usr/bin/python3";
const mainFiles = { python: "main.py", javascript: "main.js", typescript: "main.ts" } as const;

/** What refused: our guards, or Node's permission model. */
const refusal = /^BLOCKED.*(glovebox|ERR_ACCESS_DENIED|ERR_DLOPEN_DISABLED|ERR_UNKNOWN_BUILTIN_MODULE|not authorized)/;

let outside: Outside;
let glovebox: PreloadGlovebox;

beforeAll(async () => {
  outside = await Outside.open();
  process.env["PROBE_HOST_SECRET"] = "1";
  glovebox = await openPreloadGlovebox({ asOurselves: true });
});

beforeEach(() => outside.restore());

afterAll(async () => {
  delete process.env["PROBE_HOST_SECRET"];
  await glovebox[Symbol.asyncDispose]();
  await outside[Symbol.asyncDispose]();
});

it("the probes were read", () => {
  expect(python.length).toBeGreaterThanOrEqual(57);
  expect(javascript.length).toBeGreaterThanOrEqual(57);
});

describe.each([
  ["python", python],
  ["javascript", javascript],
  ["typescript", javascript],
] as const)("at level preload, in %s,", (language, probes) => {
  it.each(probes)("$name is blocked", async ({ code }) => {
    const { stdout, stderr, isolation } = await glovebox.execute({
      language,
      code,
      environment: outside.environment,
      limits: { pids: 32 },
    });
    expect(isolation).toBe("preload");
    expect(`${stdout}${stderr}`).toMatch(refusal);
    expect(stdout).not.toContain("ESCAPED");
  });
});

describe("without a guard", () => {
  it.each(python)("$name gets out", async (probe) => {
    expect(await outside.runBare(hostPython, probe, mainFiles.python)).toMatch(/^ESCAPED/);
  });

  it.each(javascript)("$name gets out", async (probe) => {
    expect(await outside.runBare(process.execPath, probe, mainFiles.javascript)).toMatch(/^ESCAPED/);
  });
});

describe("at level preload", () => {
  it("every result says so, and which demands fell away", async () => {
    const { warnings } = await glovebox.execute({ language: "python", code: "pass" });
    expect(warnings[0]).toMatch(/^isolation preload: /);
    expect(warnings.join("\n")).toMatch(/not enforce a seccomp filter[^]*not enforce a CPU limit/);
  });

  it("a demand made by name that it cannot meet is refused", async () => {
    const run = { language: "python", code: "pass" } as const;
    await failureOf(glovebox.execute({ ...run, min_isolation: "namespaces" }), "UNSUPPORTED");
    await failureOf(glovebox.execute({ ...run, limits: { cpus: 1 } }), "UNSUPPORTED");
  });

  it.each(["person", "stdio", "server"] as const)("it is refused unless it was accepted by name (%s)", async (door) => {
    await using glovebox = await openPreloadGlovebox({ door, settings: { min_isolation: undefined } });
    const error = await failureOf(glovebox.execute({ language: "python", code: "pass" }), "UNSUPPORTED");
    expect(error.message).toContain('"namespaces" is required');
    expect(error.suggestion).toMatch(/--min-isolation preload \(for every run: GLOVEBOX_MIN_ISOLATION=preload\)$/);
    await using accepted = await openPreloadGlovebox({ door });
    expect((await accepted.execute({ language: "python", code: "pass" })).isolation).toBe("preload");
  });

  it("a request may accept it for the person at the command line, and for nobody else", async () => {
    const run = { language: "python", code: "pass", min_isolation: "preload" } as const;
    const settings = { min_isolation: undefined };
    await using own = await openPreloadGlovebox({ settings });
    expect((await own.execute(run)).isolation).toBe("preload");
    expect((await own.runCode({ ...run, packages: [] })).isolation).toBe("preload");
    for (const door of ["stdio", "server"] as const) {
      await using agents = await openPreloadGlovebox({ door, settings });
      await failureOf(agents.execute(run), "POLICY_DENIED");
    }
  });

  it("sessions over stdio have it where nothing better can be reached, unless a deployment demands more", async () => {
    const run: RunCodeRequest = { language: "python", code: "pass", packages: [] };
    const open = (door: "stdio" | "server" | "person", settings: Settings): Promise<PreloadGlovebox> =>
      openPreloadGlovebox({ door, settings: { min_isolation: undefined, ...settings } });
    await using stdio = await open("stdio", {});
    const first = await stdio.runCode(run);
    expect(first.isolation).toBe("preload");
    expect(first.warnings.join()).toContain("isolation preload:");
    for (const [door, settings] of [
      ["stdio", { min_isolation: "namespaces" }],
      ["stdio", { execution_mode: "container" }],
      ["server", {}],
      ["person", {}],
    ] as const) {
      await using other = await open(door, settings);
      await failureOf(other.runCode(run), "UNSUPPORTED");
    }
  });

  it.each(["LD_PRELOAD", "PYTHONHOME", "PYTHONUSERBASE", "NODE_OPTIONS", "GLOVEBOX_PRELOAD"])(
    "the variable %s, which could take the guard out, is refused",
    async (name) => {
      const error = await failureOf(
        glovebox.execute({ language: "python", code: "pass", environment: { [name]: "x" } }),
        "UNSUPPORTED",
      );
      expect(error.message).toContain(name);
    },
  );

  it("a module path of the program's own is used, and hides no guard", async () => {
    const { stdout } = await glovebox.execute({
      language: "python",
      code: "import inner\nprint(inner.value)\ntry: open('/etc/passwd')\nexcept PermissionError: print('refused')",
      environment: { PYTHONPATH: "lib" },
      context_files: [
        { path: "lib/inner.py", content: "value = 7" },
        { path: "lib/sitecustomize.py", content: "print('own start')" },
      ],
    });
    expect(stdout).toBe("own start\n7\nrefused\n");
  });

  it.each([
    ["python", "import os\nos.stat\nopen('/etc/passwd')", "PERMISSION_DENIED"],
    ["python", "import socket\nsocket.create_connection(('192.0.2.1', 80))", "NETWORK_ERROR"],
    ["javascript", "require('fs').readFileSync('/etc/passwd')", "PERMISSION_DENIED"],
    ["javascript", "require('http').get('http://192.0.2.1/')", "NETWORK_ERROR"],
    ["typescript", "await fetch('http://192.0.2.1/')", "NETWORK_ERROR"],
  ] as const)("a refusal in %s that ends the program is explained: %s", async (language, code, type) => {
    const response = await glovebox.execute({ language, code });
    expect(response).toMatchObject({ outcome: "failed", error: { error_type: type } });
  });

  it("what programs do inside their folders works", async () => {
    const py = await glovebox.execute({
      language: "python",
      code: `
import asyncio, json, os, pathlib, fcntl, shutil, tempfile, threading
pathlib.Path("a/b").mkdir(parents=True); pathlib.Path("a/b/c.txt").write_text("text")
os.symlink("a/b/c.txt", "link"); shutil.copytree("a", "copy"); shutil.rmtree("a")
with tempfile.TemporaryDirectory() as folder: open(os.path.join(folder, "x"), "w").write("x")
with open("data.db", "w") as file: fcntl.flock(file, fcntl.LOCK_EX); fcntl.lockf(file, fcntl.LOCK_EX); os.set_blocking(os.dup(file.fileno()), True)
reader, writer = os.pipe(); fcntl.fcntl(reader, fcntl.F_SETFL, fcntl.fcntl(reader, fcntl.F_GETFL) | os.O_NONBLOCK)
os.write(writer, b"four"); assert fcntl.ioctl(reader, 0x541B, bytes(4))[0] == 4
thread = threading.Thread(target=print, args=("thread",)); thread.start(); thread.join()
async def main(): await asyncio.sleep(0); return await asyncio.to_thread(lambda: "async")
print(asyncio.run(main()), sorted(os.listdir(".")), open("copy/b/c.txt").read())
print(open(os.devnull).read() == "", os.environ["HOME"] == os.environ["TMPDIR"] == tempfile.gettempdir())
`,
      artifacts: ["**/*.txt"],
    });
    expect(py.stderr).toBe("");
    expect(py.stdout).toBe("thread\nasync ['copy', 'data.db', 'link', 'main.py'] text\nTrue True\n");
    expect(py.artifacts).toMatchObject([{ path: "copy/b/c.txt", content: "text" }]);
    const js = await glovebox.execute({
      language: "typescript",
      code: `
import { mkdirSync, writeFileSync, readFileSync, rmSync } from "node:fs"; import { tmpdir } from "node:os";
import { twice } from "./lib/twice"; import { createHash } from "node:crypto"; import { gzipSync } from "node:zlib";
mkdirSync("a/b", { recursive: true }); writeFileSync("a/b/c.txt", "text"); writeFileSync(tmpdir() + "/t", "t");
console.log(readFileSync("a/b/c.txt", "utf8"), twice(4), createHash("sha1").update("x").digest("hex").length);
console.log(gzipSync("x").length > 0, await new Promise<string>((r) => setTimeout(r, 1, "later")), process.argv.slice(2));
process.kill(process.pid, 0);
`,
      context_files: [{ path: "lib/twice.ts", content: "export const twice = (n: number): number => n * 2;" }],
      args: ["one"],
      artifacts: ["**/*.txt"],
    });
    expect(js.stderr).toBe("");
    expect(js.stdout).toBe("text 8 40\ntrue later [ 'one' ]\n");
    expect(js.artifacts).toMatchObject([{ path: "a/b/c.txt", content: "text" }]);
  });

  it("a time limit ends the program, and nothing is left of its folder", async () => {
    const { outcome, stdout } = await glovebox.execute({
      language: "python",
      code: "import os, time\nprint(os.getcwd(), flush=True)\ntime.sleep(1000)",
      timeout_seconds: 2,
    });
    expect(outcome).toBe("timed_out");
    expect(stdout.trim()).not.toBe("");
    expect(existsSync(stdout.trim())).toBe(false);
  });

  it.each([
    ["python", "kept = []\nwhile True: kept.append('x' * 1000000)"],
    ["javascript", "const kept = []; for (;;) kept.push(Buffer.alloc(1 << 20, 1));"],
  ] as const)("a program in %s that takes too much memory is ended and told why", async (language, code) => {
    const response = await glovebox.execute({ language, code, limits: { memory_mb: 128 }, timeout_seconds: 30 });
    expect(response).toMatchObject({ outcome: "oom_killed", error: { error_type: "OOM_KILLED" } });
  });

  it("a program whose files take too much space is ended, with the reason", async () => {
    const code = `
import time
for number in range(100):
    open(str(number), "wb").write(bytes([1]) * (1 << 20))
time.sleep(30)`;
    const response = await glovebox.execute({ language: "python", code, limits: { disk_mb: 32 }, timeout_seconds: 30 });
    expect(response).toMatchObject({ outcome: "failed", exit_code: 137 });
    expect(response.stderr).toContain("its files take more than");
  });
});
