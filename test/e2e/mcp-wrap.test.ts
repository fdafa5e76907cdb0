import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { Client, type CallToolResult } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import { gloveboxEnvironment } from "../helpers/mcp-client.ts";
import { npmRegistryFault } from "../helpers/npm-registry.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { pythonIndex } from "../helpers/python-index.ts";
import { until } from "../helpers/until.ts";

const sandboxes = useOwnSandboxes();
const npmFault = npmRegistryFault();
const python = pythonIndex();

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-wrap-")));
const data = path.join(folder, "data");
mkdirSync(data);
writeFileSync(path.join(data, "note.txt"), "seen\n");
const allowlist = path.join(folder, "allowed", "mounts.json");
mkdirSync(path.dirname(allowlist));
writeFileSync(allowlist, JSON.stringify({ allowedRoots: [{ path: data, allowReadWrite: true }] }));
afterAll(() => rmSync(folder, { recursive: true }));

const environment = (): Record<string, string> =>
  gloveboxEnvironment({
    ...sandboxes.environment(),
    GLOVEBOX_MOUNT_ALLOWLIST: allowlist,
    GLOVEBOX_NETWORK_PRIVATE_HOSTS: python.fileHosts.join(","),
  });

/** Text of a tool's answer. */
const textOf = (result: CallToolResult): string => JSON.stringify(result.content);

const started: ChildProcessByStdio<Writable, Readable, Readable>[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    child.stdout.resume();
    child.stderr.resume();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
});

/** A wrapped server whose streams are not being read yet. */
function wrap(argv: readonly string[]): ChildProcessByStdio<Writable, Readable, Readable> {
  const child = spawn(gloveboxCommand, ["mcp", "wrap", ...argv], {
    env: environment(),
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => undefined);
  started.push(child);
  return child;
}

interface Ended {
  readonly exitCode: number | null;
  readonly stdoutBytes: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Reads both streams to the end; the last 64 KiB of each are kept. */
async function ended(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<Ended> {
  const kept = { stdout: "", stderr: "", stdoutBytes: 0 };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].on("data", (bytes: Buffer) => {
      if (name === "stdout") kept.stdoutBytes += bytes.length;
      kept[name] = (kept[name] + bytes.toString("latin1")).slice(-65_536);
    });
  }
  await once(child, "close");
  return { ...kept, exitCode: child.exitCode };
}

/** Peak memory of a process so far, in bytes. */
function peakBytes(pid: number | undefined): number {
  const [, kilobytes = "0"] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

const program = (code: string): readonly string[] => ["--", "python3", "-u", "-c", code];

describe.each(["docker", "podman", "local"] as const)("a real server, wrapped on %s", (engine) => {
  useGlovebox(engine);
  const connect = async (...argv: readonly string[]): Promise<Client> => {
    const client = new Client({ name: "test", version: "1" });
    const args = ["mcp", "wrap", "--engine", engine, ...argv];
    const transport = new StdioClientTransport({
      command: gloveboxCommand,
      args,
      env: environment(),
      stderr: "inherit",
    });
    // Its packages come first.
    await client.connect(transport, { timeout: 240_000 });
    return client;
  };

  it("from npm answers, and its sandbox goes with its client", { timeout: 300_000 }, async (context) => {
    if (npmFault !== null) context.skip(npmFault);
    const client = await connect("--", "npx", "-y", "@modelcontextprotocol/server-everything@2026.8.31");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("echo");
    const echoed = await client.callTool({ name: "echo", arguments: { message: "çà et là" } });
    expect(textOf(echoed)).toContain("çà et là");
    expect(await sandboxes.on(engine)).toHaveLength(1);
    await client.close();
    await until(async () => (await sandboxes.on(engine)).length === 0);
  });

  it.skipIf(engine === "podman")("from the Python index answers", { timeout: 300_000 }, async (context) => {
    if (python.fault !== null) context.skip(python.fault);
    const client = await connect("--", "uvx", "mcp-server-time", "--local-timezone", "UTC");
    const answer = await client.callTool({ name: "get_current_time", arguments: { timezone: "Asia/Tokyo" } });
    expect(textOf(answer)).toContain("+09:00");
    await client.close();
  });
});

describe.each(["docker", "local"] as const)("a hostile server on %s", (engine) => {
  useGlovebox(engine);
  const on = (...argv: readonly string[]): ReturnType<typeof wrap> => wrap(["--engine", engine, ...argv]);

  it("that writes without a newline is ended, and no memory grows", { timeout: 120_000 }, async () => {
    const child = on(...program("import os\nwhile True: os.write(1, b'x' * 65536)"));
    let peak = 0;
    const timer = setInterval(() => (peak = Math.max(peak, child.exitCode === null ? peakBytes(child.pid) : 0)), 50);
    const { exitCode, stdoutBytes, stderr } = await ended(child);
    clearInterval(timer);
    expect(stderr).toContain("it wrote a message of more than 67108864 bytes");
    expect(exitCode).toBe(125);
    expect(stdoutBytes).toBeLessThanOrEqual(67_108_864);
    expect(peak).toBeGreaterThan(0);
    expect(peak).toBeLessThan(450 * 1024 * 1024);
    expect(await sandboxes.on(engine)).toEqual([]);
  });

  it("that never answers ends after its client, with everything it has started", { timeout: 120_000 }, async () => {
    const seconds = uniqueSeconds();
    const child = on(
      ...program(
        `import signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "${seconds}"], start_new_session=True)
time.sleep(1000)`,
      ),
    );
    await until(() => sleepersFor(seconds).length > 0);
    child.stdin.end();
    const { exitCode, stderr } = await ended(child);
    expect(stderr).toContain("the server was ended because its client disconnected");
    expect(exitCode).toBe(0);
    expect(sleepersFor(seconds)).toEqual([]);
  });

  it(
    "that does not read is ended when too much waits, and leaves with its client's death",
    { timeout: 120_000 },
    async () => {
      const seconds = uniqueSeconds();
      const child = on(...program(`import subprocess; subprocess.run(["sleep", "${seconds}"])`));
      await until(() => sleepersFor(seconds).length > 0);
      const end = ended(child);
      for (let sent = 0; sent < 80; sent += 1) child.stdin.write(Buffer.alloc(1024 * 1024, 0x61));
      const { exitCode, stderr } = await end;
      expect(stderr).toContain("bytes of its input were unread");
      expect(exitCode).toBe(125);
      expect(sleepersFor(seconds)).toEqual([]);
    },
  );

  it("whose Glovebox is killed does not outlive it", { timeout: 120_000 }, async () => {
    const seconds = uniqueSeconds();
    const child = on(...program(`import subprocess; subprocess.run(["sleep", "${seconds}"])`));
    await until(() => sleepersFor(seconds).length > 0);
    child.kill("SIGKILL");
    await until(() => sleepersFor(seconds).length === 0);
    expect(sleepersFor(seconds)).toEqual([]);
  });

  it("that forks and ends leaves nothing", { timeout: 120_000 }, async () => {
    const seconds = uniqueSeconds();
    const child = on(
      ...program(
        `import signal, subprocess
subprocess.Popen(["sleep", "${seconds}"], start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))
print("{}")`,
      ),
    );
    expect(await ended(child)).toMatchObject({
      exitCode: 0,
      stdout: "{}\n",
      stderr: expect.stringMatching(/the server ended by itself, exit code 0, after [^\n]+\n$/) as string,
    });
    expect(sleepersFor(seconds)).toEqual([]);
  });

  it("that writes a gibibyte to an unread stderr still answers", { timeout: 240_000 }, async () => {
    const child = on(
      ...program(
        `import os, sys
for _ in range(16384): os.write(2, b"e" * 65536)
print(sys.stdin.readline().strip())`,
      ),
    );
    child.stdin.write('{"ping":1}\n');
    const [answer] = (await once(child.stdout, "data")) as [Buffer];
    expect(answer.toString()).toBe('{"ping":1}\n');
    expect(peakBytes(child.pid)).toBeLessThan(450 * 1024 * 1024);
    child.stdin.end();
    const { stderr } = await ended(child);
    expect(stderr).toMatch(/\d{9,} bytes of the server's stderr were dropped/);
  });

  it("that tries the network is refused, and its user is told", { timeout: 120_000 }, async () => {
    const code = `import urllib.request
try: urllib.request.urlopen("http://collector.example/", timeout=10)
except OSError: print("refused")`;
    expect(await ended(on("--network", "allowed.example", ...program(code)))).toMatchObject({
      stdout: "refused\n",
      stderr: expect.stringContaining("refused a connection to collector.example:80") as string,
    });
    expect(await ended(on(...program(code)))).toMatchObject({ stdout: "refused\n", exitCode: 0 });
  });

  it("that takes too long or too much memory gets its verdict", { timeout: 120_000 }, async () => {
    const slow = ended(on("--timeout", "2s", ...program("import time; time.sleep(100)")));
    const large = ended(on("--memory", "64m", ...program("x = bytearray(10 ** 9)")));
    expect(await slow).toMatchObject({
      exitCode: 124,
      stderr: expect.stringContaining("glovebox: TIMEOUT: ") as string,
    });
    const { exitCode, stderr } = await large;
    expect({ exitCode, isToldApart: /OOM_KILLED|MemoryError/.test(stderr) }).toEqual({
      exitCode: expect.any(Number) as number,
      isToldApart: true,
    });
    expect(exitCode).not.toBe(0);
  });
});

describe("folders of this machine on docker", () => {
  useGlovebox("docker");
  const target = "/workspace/extra/data";
  const write = `import sys
try: open(sys.argv[1] + "/new.txt", "w").write("x"); print("written")
except OSError as error: print(error.strerror)
print(sys.argv[1:], open("${target}/note.txt").read())`;
  const on = (...argv: readonly string[]): Promise<Ended> => ended(wrap(["--engine", "docker", ...argv]));

  it("are read-only, and written where that is asked; paths in the command follow", { timeout: 120_000 }, async () => {
    const readOnly = await on("--mount", data, ...program(write), data, `--file=${data}/note.txt`);
    expect(readOnly.stdout).toBe(`Read-only file system\n['${target}', '--file=${target}/note.txt'] seen\n\n`);
    const writable = await on("--mount", `${data}:rw`, ...program(write), data);
    expect(writable.stdout).toContain("written");
    expect(readFileSync(path.join(data, "new.txt"), "utf8")).toBe("x");
  });

  it("pass the mount gate, and are refused where an engine has none", async () => {
    expect(await on("--mount", path.dirname(allowlist), ...program("1"))).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--mount ") as string,
    });
    const local = await ended(wrap(["--engine", "local", "--mount", data, ...program("1")]));
    expect(local).toMatchObject({
      exitCode: 125,
      stdout: "",
      stderr: expect.stringContaining("UNSUPPORTED") as string,
    });
  });

  beforeEach(() => rmSync(path.join(data, "new.txt"), { force: true }));
});
