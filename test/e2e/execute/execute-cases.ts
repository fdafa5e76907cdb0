import { expect, it } from "vitest";
import { isNobodysUser } from "../../helpers/nobodys-user.ts";
import type { ExecuteRequest, ExecuteResponse, Glovebox, OperationEvent } from "../../helpers/wire-glovebox.ts";
import type { TestedEngine } from "../../helpers/open-glovebox.ts";

/** Runs a program, in a new or a warm sandbox. */
export type RunProgram = (
  request: ExecuteRequest,
  call?: Parameters<Glovebox["execute"]>[1],
) => Promise<ExecuteResponse>;

/** What every run must do, whether its sandbox was started for it or waited for it. */
export function executeCases(engine: TestedEngine, run: RunProgram): void {
  it("tells the truth about a program that succeeds", async () => {
    const response = await run({
      language: "python",
      code: "import sys\nprint(6 * 7)\nprint('warn', file=sys.stderr)",
    });
    expect(response).toMatchObject({
      outcome: "completed",
      exit_code: 0,
      stdout: "42\n",
      stderr: "warn\n",
      timed_out: false,
      truncated: false,
      engine,
      isolation: engine === "local" ? "namespaces" : "container",
    });
    expect(response.error).toBeUndefined();
    expect(response.sandbox_id).toMatch(/^sbx-/);
    expect(response.memory_used_mb).toBeGreaterThan(1);
  });

  it("keeps what was printed before a failure, with a traceback that names the user's file and line", async () => {
    const response = await run({
      language: "python",
      filename: "hello.py",
      code: "print('before')\n\nraise ValueError('no')",
    });
    expect(response).toMatchObject({ outcome: "failed", exit_code: 1, stdout: "before\n" });
    expect(response.stderr).toContain('File "/work/hello.py", line 3, in <module>');
    expect(response.stderr).toContain("ValueError: no");
    expect(response.stderr).not.toContain("runner");
  });

  it.each(["javascript", "typescript"] as const)(
    "runs %s as CommonJS and as a module with top-level await",
    async (language) => {
      const commonjs = await run({ language, code: "console.log(require('node:path').sep, require.main === module)" });
      expect(commonjs.stdout).toBe("/ true\n");
      const module = await run({
        language,
        code: "import { sep } from 'node:path';\nawait 1;\nconsole.log(sep, import.meta.main);",
      });
      expect(module.stdout).toBe("/ true\n");
    },
  );

  it("runs TypeScript with types, enums, namespaces, parameter properties and decorators", async () => {
    const code = `
function logged(target: (...args: never[]) => unknown, context: ClassMethodDecoratorContext): void {
  console.log("decorated", String(context.name));
}
enum Color { Red, Green = 5 }
namespace Numbers { export const three = 3; }
class Box<T> {
  constructor(private readonly value: T) {}
  @logged get(): T { return this.value; }
}
const box = new Box<Color>(Color.Green);
console.log(box.get(), Color[5], Numbers.three satisfies number);
`;
    const response = await run({ language: "typescript", code });
    expect(response.stderr).toBe("");
    expect(response.stdout).toBe("decorated get\n5 Green 3\n");
  });

  it("names the TypeScript line in an error", async () => {
    const response = await run({
      language: "typescript",
      code: "interface Unused {\n  a: string;\n}\n\nfunction fail(): never {\n  throw new Error('here');\n}\nfail();",
    });
    expect(response.outcome).toBe("failed");
    expect(response.stderr).toMatch(/main\.ts:6:/);
  });

  it("gives arguments, environment, standard input and context files", async () => {
    const response = await run({
      language: "python",
      code: "import sys, os, helper\nprint(sys.argv[1:], os.environ['NAME'], sys.stdin.read(), helper.value, open('data/in.txt').read())",
      args: ["a b", "", "--x"],
      environment: { NAME: "wörld" },
      stdin: "line\n",
      context_files: [
        { path: "helper.py", content: "value = 7" },
        { path: "data/in.txt", content: Buffer.from("from file").toString("base64"), encoding: "base64" },
      ],
    });
    expect(response.stderr).toBe("");
    expect(response.stdout).toBe("['a b', '', '--x'] wörld line\n 7 from file\n");
  });

  it("places context files read-only and lets TypeScript import them", async () => {
    const response = await run({
      language: "typescript",
      code: "import { twice } from './lib/math';\nimport { writeFileSync } from 'node:fs';\nconsole.log(twice(4));\ntry { writeFileSync('lib/math.ts', 'x'); console.log('written'); } catch { console.log('read-only'); }",
      context_files: [{ path: "lib/math.ts", content: "export const twice = (n: number): number => n * 2;" }],
    });
    expect(response.stdout).toBe("8\nread-only\n");
  });

  it("ends what runs too long, with all it started, and keeps the partial output", async () => {
    const response = await run({
      language: "python",
      code: "import subprocess, time\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)\nprint('started', flush=True)\ntime.sleep(1000)",
      timeout_seconds: 1.5,
    });
    expect(response).toMatchObject({ outcome: "timed_out", timed_out: true, stdout: "started\n" });
    expect(response.error).toMatchObject({ error_type: "TIMEOUT", context: { timeout_seconds: 1.5 } });
  });

  it("lets a program clean up on SIGTERM before it is killed", async () => {
    const response = await run({
      language: "python",
      code: "import signal, sys, time\ndef end(*_):\n  print('cleaned')\n  sys.exit(0)\nsignal.signal(signal.SIGTERM, end)\nprint('ready')\ntime.sleep(1000)",
      timeout_seconds: 1.5,
    });
    expect(response).toMatchObject({ outcome: "timed_out", stdout: "ready\ncleaned\n" });
  });

  it("distinguishes running out of memory from a crash", async () => {
    const bomb = "x = []\nwhile True: x.append(bytearray(1 << 20))";
    const response = await run({ language: "python", code: bomb, limits: { memory_mb: 64 } });
    expect(response).toMatchObject({
      outcome: "oom_killed",
      error: { error_type: "OOM_KILLED", context: { limit_mb: 64 } },
    });
    const killed = await run({ language: "python", code: "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)" });
    expect(killed).toMatchObject({ outcome: "failed", exit_code: 137 });
  });

  it("returns artifacts with their types and leaves the context files out", async () => {
    const png = "89504e470d0a1a0a0000000d49484452";
    const response = await run({
      language: "python",
      code: `open('plot.png', 'wb').write(bytes.fromhex('${png}'))\nopen('rows.csv', 'w').write('a,b\\n1,2\\n')\nopen('notes.md', 'w').write('# hi')`,
      context_files: [{ path: "input.csv", content: "x" }],
      artifacts: ["*.png", "*.csv"],
    });
    expect(response.artifacts?.toSorted((a, b) => a.path.localeCompare(b.path))).toMatchObject([
      {
        path: "plot.png",
        type: "image",
        media_type: "image/png",
        encoding: "base64",
        content: Buffer.from(png, "hex").toString("base64"),
      },
      { path: "rows.csv", type: "table", media_type: "text/csv", encoding: "utf8", content: "a,b\n1,2\n" },
    ]);
  });

  it("names in its warnings what it leaves out of the artifacts", async () => {
    const response = await run({
      language: "python",
      code: [
        "import os",
        "for name in ('real.txt', 'secret.txt'): open(name, 'w').write('x')",
        "os.symlink('real.txt', 'link.txt'); os.mkfifo('pipe.txt'); os.chmod('secret.txt', 0)",
        "os.mkdir('shut'); open('shut/a.txt', 'w').write('x'); os.chmod('shut', 0)",
        "open('big.txt', 'w').truncate(11 << 20)",
      ].join("\n"),
      artifacts: ["**/*.txt"],
    });
    expect(response.artifacts?.filter(({ omitted }) => omitted === undefined).map(({ path }) => path)).toEqual([
      "real.txt",
    ]);
    expect(response.warnings.filter((warning) => warning.startsWith("artifacts: ")).toSorted()).toEqual([
      'artifacts: "big.txt" left out. Larger than the 10 MiB that one artifact may have.',
      'artifacts: "link.txt" left out. Links are not followed. Copy the file in place of the link.',
      'artifacts: "pipe.txt" left out. Only files are returned, not pipes, sockets or devices.',
      'artifacts: "secret.txt" left out. The program took away the permission to read it.',
      'artifacts: "shut" left out. The program took away the permission to look into these folders.',
    ]);
  });

  it("streams: the id first, then output while the program still runs", async () => {
    const events: OperationEvent[] = [];
    const { promise: seen, resolve } = Promise.withResolvers<void>();
    async function* stdin(): AsyncGenerator<Uint8Array> {
      await seen;
      yield Buffer.from("go\n");
    }
    const response = await run(
      { language: "python", code: "print('first')\nprint('got', input())" },
      {
        stdin: stdin(),
        onEvent: (event) => {
          events.push(event);
          if (event.type === "output") resolve();
        },
      },
    );
    expect(response.stdout).toBe("first\ngot go\n");
    expect(events[0]).toEqual({ type: "sandbox", sandboxId: response.sandbox_id });
  });

  it("ends a run that is cancelled, with what it had printed", async () => {
    const controller = new AbortController();
    const response = await run(
      { language: "python", code: "import os, time\nos.write(1, b'started\\n')\ntime.sleep(1000)" },
      { signal: controller.signal, onEvent: (event) => (event.type === "output" ? controller.abort() : undefined) },
    );
    expect(response).toMatchObject({ outcome: "cancelled", stdout: "started\n", error: { error_type: "CANCELLED" } });
  });

  it("reveals nothing of the host's environment and runs as an ordinary user", async () => {
    process.env["GLOVEBOX_TEST_SECRET"] = "s3cret";
    const response = await run({
      language: "python",
      code: "import os\nprint(sorted(os.environ))\nprint(os.getuid(), os.getgid(), os.getcwd())\nprint('s3cret' in str(os.environ))",
    });
    delete process.env["GLOVEBOX_TEST_SECRET"];
    const [names = "", ids, leaked] = response.stdout.split("\n");
    const known = [
      "HOME",
      "HOSTNAME",
      "LANG",
      "PATH",
      "PYTHONDONTWRITEBYTECODE",
      "PYTHONUNBUFFERED",
      "LC_CTYPE",
      "NO_COLOR",
      "PWD",
      "TERM",
      // Podman leaves this mark.
      "container",
    ];
    expect(known).toEqual(expect.arrayContaining(JSON.parse(names.replaceAll("'", '"')) as string[]));
    const [uid = "", gid, folder] = (ids ?? "").split(" ");
    expect({ isNobodys: isNobodysUser(uid), gid, folder }).toEqual({ isNobodys: true, gid: uid, folder: "/work" });
    expect(leaked).toBe("False");
  });

  it("explains a refused write and a refused connection", async () => {
    const write = await run({ language: "python", code: "open('/etc/passwd', 'a')" });
    expect(write).toMatchObject({ outcome: "failed", error: { error_type: "PERMISSION_DENIED" } });
    const connect = await run({
      language: "python",
      code: "import socket\nsocket.create_connection(('192.0.2.1', 80), 5)",
    });
    expect(connect).toMatchObject({ outcome: "failed", error: { error_type: "NETWORK_ERROR" } });
  });
}
