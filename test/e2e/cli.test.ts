import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import type { ExecuteResponse } from "../helpers/wire-glovebox.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { processesWith, sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { runCommand } from "../helpers/run-command.ts";

let folder = "";
const large = randomBytes(40 * 1024 * 1024);

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  writeFileSync(path.join(folder, "hello.py"), "import sys\nprint('hello', sys.argv[1:])\nsys.exit(3)\n");
  writeFileSync(path.join(folder, "echo.py"), "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())\n");
  writeFileSync(path.join(folder, "hello.ts"), "const x: string = 'typed';\nconsole.log(x);\n");
  writeFileSync(path.join(folder, "data.txt"), "data\n");
  writeFileSync(path.join(folder, "large.bin"), large);
  writeFileSync(
    path.join(folder, "maker"),
    "#!/usr/bin/env python3\nimport os\nopen('a.txt', 'w').write('A')\nos.mkdir('d')\nopen('d/b.bin', 'wb').write(bytes([0, 255]))\n",
  );
  writeFileSync(path.join(folder, "bytes.py"), "import sys\nsys.stdout.buffer.write(bytes(range(256)))\n");
  symlinkSync("/etc/passwd", path.join(folder, "link.txt"));
});

afterAll(() => rmSync(folder, { recursive: true }));

describe.each(engines)("glovebox run on %s", (engine) => {
  useGlovebox(engine);
  const run = (argv: readonly string[], options = {}) =>
    runCommand(["run", "--engine", engine, ...argv], { cwd: folder, ...options });

  it("passes output, arguments and the exit code through", async () => {
    const result = await run(["hello.py", "--", "a", "--json"]);
    expect(result).toMatchObject({ exitCode: 3, stdout: "hello ['a', '--json']\n", stderr: "" });
  });

  it("writes its log in lines for people", async () => {
    const { stdout, stderr } = await run(["-c", "print(1)"], { environment: { GLOVEBOX_LOG_LEVEL: "info" } });
    expect(stdout).toBe("1\n");
    expect(stderr).toMatch(/^glovebox: sandbox started \(.*sandbox sbx-/m);
    for (const line of stderr.trim().split("\n")) expect(line).toMatch(/^(?:glovebox: |  )/);
  });

  it("prints exactly one JSON object with --json", async () => {
    const result = await run(["--json", "hello.ts"]);
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(result.stdout.trimEnd().split("\n")).toHaveLength(1);
    const response = JSON.parse(result.stdout) as ExecuteResponse;
    expect(response).toMatchObject({ outcome: "completed", exit_code: 0, stdout: "typed\n", engine });
  });

  it("feeds the program's standard input, takes code from - and from -c", async () => {
    expect(await run(["echo.py"], { stdin: "through\n" })).toMatchObject({ exitCode: 0, stdout: "through\n" });
    expect(await run(["-"], { stdin: "print(1)" })).toMatchObject({ exitCode: 0, stdout: "1\n" });
    expect(await run(["-c", "console.log(2)", "--language", "javascript"])).toMatchObject({
      exitCode: 0,
      stdout: "2\n",
    });
  });

  it("gives files, variables and limits", async () => {
    const code = "import os; print(open('data.txt').read(), os.environ['A'], os.environ['B'])";
    const result = await run(["--file", "data.txt", "--env", "A=1=2", "--env", "B=", "--memory", "256m", "-c", code]);
    expect(result).toMatchObject({ exitCode: 0, stdout: "data\n 1=2 \n" });
  });

  it("passes a file of 40 MiB unchanged, and refuses one that has no room before anything starts", async () => {
    const code = "import hashlib; print(hashlib.sha256(open('large.bin', 'rb').read()).hexdigest())";
    expect(await run(["--file", "large.bin", "-c", code])).toMatchObject({
      exitCode: 0,
      stdout: `${createHash("sha256").update(large).digest("hex")}\n`,
    });
    const tooSmall = await run(["--disk", "39m", "--file", "large.bin", "-c", code]);
    expect(tooSmall).toMatchObject({ exitCode: 2, stdout: "" });
    expect(tooSmall.stderr).toMatch(
      /: --file: expected at most 39 MiB in all files, which is --disk, found 40 MiB\.\n/,
    );
  });

  it("saves what a program has made, and detects its language from the first line or a short name", async () => {
    const made = path.join(folder, `made-${engine}`);
    const result = await run(["--output", made, "maker"]);
    expect(result).toMatchObject({ exitCode: 0, stdout: "" });
    expect(result.stderr).toContain(`glovebox: saved 2 files in ${made}: a.txt, d/b.bin\n`);
    expect(readFileSync(path.join(made, "a.txt"), "utf8")).toBe("A");
    expect([...readFileSync(path.join(made, "d/b.bin"))]).toEqual([0, 255]);
    const code = "require('fs').writeFileSync('one.txt', '1'); require('fs').writeFileSync('two.txt', '2')";
    await run(["--output", made, "--artifact", "one*", "--language", "js", "-c", code]);
    expect(readdirSync(made).toSorted()).toEqual(["a.txt", "d", "one.txt"]);
  });

  it("leaves bytes unchanged when its output is not a terminal", async () => {
    const out = path.join(folder, `bytes-${engine}`);
    execFileSync("sh", ["-c", 'exec "$0" run --engine "$1" bytes.py >"$2"', gloveboxCommand, engine, out], {
      cwd: folder,
      env: { ...process.env, GLOVEBOX_IMAGE_PYTHON: "glovebox-test/python:1" },
      stdio: ["ignore", "ignore", "inherit"],
    });
    expect([...readFileSync(out)]).toEqual(Array.from({ length: 256 }, (_, index) => index));
  });

  it("exits with 124 after a timeout and 137 out of memory, saying what happened", async () => {
    const late = await run(["--timeout", "1s", "-c", "print('x')\nwhile True: pass"]);
    expect(late).toMatchObject({ exitCode: 124, stdout: "x\n" });
    expect(late.stderr).toContain("TIMEOUT");
    const bomb = await run(["--memory", "64m", "-c", "x = []\nwhile True: x.append(bytearray(1 << 20))"]);
    expect(bomb.exitCode).toBe(137);
    expect(bomb.stderr).toContain("OOM_KILLED");
  });

  it("does not lose a flood of output when the reader is slow, and ends when the reader is gone", async () => {
    const script = `"$0" run --engine "$1" -c 'for i in range(200000): print(i)' | { sleep 1; tail -n 1; }`;
    const environment = { ...process.env, GLOVEBOX_IMAGE_PYTHON: "glovebox-test/python:1" };
    const bin = gloveboxCommand;
    const last = execFileSync("sh", ["-c", script, bin, engine], {
      env: environment,
      stdio: ["ignore", "pipe", "inherit"],
    });
    expect(last.toString()).toBe("199999\n");
    const endless = `"$0" run --engine "$1" -c 'while True: print("y")' | head -n 2`;
    const two = execFileSync("sh", ["-c", endless, bin, engine], {
      env: environment,
      stdio: ["ignore", "pipe", "inherit"],
    });
    expect(two.toString()).toBe("y\ny\n");
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("on %s leaves nothing behind", async (signal, exitCode) => {
    const seconds = uniqueSeconds();
    const code = `import subprocess\nprint('up', flush=True)\nsubprocess.run(['sleep', '${seconds}'])`;
    const temporaryFolder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
    // With --json the output comes only at the end, so the process that it started shows that the run is in progress.
    const ended = run(["--json", "-c", code], { environment: { TMPDIR: temporaryFolder } });
    await expect.poll(() => sleepersFor(seconds), { timeout: 60_000 }).toHaveLength(1);
    const [commandPid = 0] = processesWith((argv) => isCommandWith(argv, seconds));
    process.kill(commandPid, signal);
    const result = await ended;
    expect(result.exitCode).toBe(exitCode);
    const response = JSON.parse(result.stdout) as ExecuteResponse;
    expect(response.outcome).toBe("cancelled");
    expect(sleepersFor(seconds)).toEqual([]);
    expect(globSync(`/sys/fs/cgroup/**/*${response.sandbox_id}*`)).toEqual([]);
    expect(readFileSync("/proc/mounts", "utf8")).not.toContain(response.sandbox_id);
    expect(readdirSync(temporaryFolder)).toEqual([]);
    rmSync(temporaryFolder, { recursive: true });
    expect(containersOf(response.sandbox_id)).toBe("");
  });
});

describe("glovebox", () => {
  it.each([
    ["no such file", ["run", "nowhere.py"], "FILE"],
    ["a folder outside", ["run", "--file", "/etc/passwd", "-c", "pass"], " --file: "],
    ["a link out", ["run", "--file", "link.txt", "-c", "pass"], " --file: "],
    ["a bad duration", ["run", "--timeout", "soon", "-c", "pass"], "--timeout"],
    ["a bad size", ["run", "--memory", "lots", "-c", "pass"], "--memory"],
    ["a bad variable", ["run", "--env", "NOVALUE", "-c", "pass"], "--env"],
    ["an unknown engine", ["run", "--engine", "lxc", "-c", "pass"], " --engine: "],
    ["an unknown language", ["run", "--language", "cobol", "-c", "pass"], " --language: "],
    ["an unknown option", ["run", "--frobnicate", "-c", "pass"], "--frobnicate"],
    ["an unknown command", ["walk"], "walk"],
    ["an ending that says no language", ["run", "data.txt"], "--language"],
    ["nothing to run", ["run"], "FILE"],
    ["a variable without a name", ["run", "--env", "1A=x", "-c", "pass"], " --env: "],
    ["too long a time", ["run", "--timeout", "99h", "-c", "pass"], " --timeout: "],
    ["a bad image", ["run", "--image", "A:B:C", "-c", "pass"], " --image: "],
    ["a bad package", ["run", "--packages", "../x", "-c", "pass"], " --packages: "],
    ["a bad pattern", ["run", "--artifact", "../x", "-c", "pass"], " --artifact: "],
    ["no such isolation", ["run", "--min-isolation", "strong", "-c", "pass"], " --min-isolation: "],
    ["a project outside", ["run", "--project", "/etc", "--", "true"], " --project: "],
    ["tests outside", ["test", "/etc", "--", "true"], " PATH: "],
    ["no network policy of this kind", ["run", "--network", "sometimes", "-c", "pass"], " --network: "],
  ])("%s is wrong usage", async (_, argv, named) => {
    const result = await runCommand(argv, { cwd: folder });
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    expect(result.stderr).toContain(named);
    expect(result.stderr).not.toMatch(/\bat .*\.ts:\d+/);
  });

  it("says with --json what was wrong, as one object", async () => {
    const result = await runCommand(["run", "--json", "--cpus", "0", "-c", "pass"], { cwd: folder });
    expect(result).toMatchObject({ exitCode: 2, stderr: "" });
    expect(JSON.parse(result.stdout)).toMatchObject({
      error: { error_type: "INVALID_REQUEST", context: { field: "limits.cpus" } },
    });
  });

  it.each([
    ["an option", ["run", "--json", "--frobnicate", "-c", "pass"], "--frobnicate: unknown option."],
    ["a command", ["walk", "--json"], "walk: unknown command."],
    ["an argument that is missing", ["exec", "--json"], "ID: expected an argument, got nothing."],
  ])("says the same of %s that it does not know", async (_, argv, message) => {
    const result = await runCommand(argv, { cwd: folder });
    expect(result).toMatchObject({ exitCode: 2, stderr: "" });
    expect(JSON.parse(result.stdout)).toMatchObject({ error: { error_type: "INVALID_REQUEST", message } });
    // Everything after `--` belongs to the program.
    const plain = await runCommand(["run", "--frobnicate", "-c", "pass", "--", "--json"], { cwd: folder });
    expect(plain).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("--frobnicate") as string });
  });

  it("colours errors only on a terminal, unless told otherwise", async () => {
    const colour = async (environment: Record<string, string>): Promise<boolean> => {
      const { stderr } = await runCommand(["run", "nowhere.py"], { cwd: folder, environment });
      expect(stripVTControlCharacters(stderr)).toContain("glovebox: INVALID_REQUEST: FILE: ");
      return stderr.includes("\u001b[31mINVALID_REQUEST\u001b[39m");
    };
    expect([await colour({}), await colour({ FORCE_COLOR: "1" }), await colour({ FORCE_COLOR: "0" })]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it("refuses a bad configuration by name", async () => {
    const result = await runCommand(["run", "-c", "pass"], { cwd: folder, environment: { MAX_CONTAINERS: "many" } });
    expect(result.exitCode).toBe(2);
    expect(result.stderr).toContain("MAX_CONTAINERS");
  });

  it("says how to start an engine that is down", async () => {
    const environment = { DOCKER_HOST: "unix:///nonexistent/docker.sock" };
    const result = await runCommand(["run", "--engine", "docker", "-c", "pass"], { cwd: folder, environment });
    expect(result.exitCode).toBe(125);
    expect(result.stderr).toContain("ENGINE_UNAVAILABLE");
    expect(result.stderr).not.toContain("ENOENT");
  });

  it("falls back to the embedded sandbox under auto, and says so", async ({ skip }) => {
    const environment = {
      DOCKER_HOST: "unix:///nonexistent/docker.sock",
      CONTAINER_HOST: "unix:///nonexistent/podman.sock",
    };
    const result = await runCommand(["run", "-c", "print(1)"], { cwd: folder, environment });
    if (result.exitCode === 125) skip("the embedded sandbox cannot be used here");
    expect(result).toMatchObject({ exitCode: 0, stdout: "1\n" });
    expect(result.stderr).toContain("embedded sandbox");
  });

  it("shows help and version", async () => {
    const help = await runCommand(["--help"]);
    expect(help).toMatchObject({ exitCode: 0 });
    expect(help.stdout).toContain("run");
    const version = await runCommand(["--version"]);
    expect(version.stdout.trim()).toMatch(/^\d+\.\d+\.\d+/);
  });
});

/** Whether this is the `glovebox` command whose code contains the number. */
function isCommandWith(argv: readonly string[], seconds: string): boolean {
  return argv.some((argument) => argument.endsWith("main.js")) && argv.some((argument) => argument.includes(seconds));
}

/** Ids of this sandbox's containers on Docker; none without Docker. */
function containersOf(sandboxId: string): string {
  const script =
    'command -v docker >/dev/null || exit 0; docker ps -aq --filter "label=glovebox.sandbox=$0" 2>/dev/null || true';
  return execFileSync("sh", ["-c", script, sandboxId], { encoding: "utf8" });
}
