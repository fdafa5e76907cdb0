import { spawn } from "node:child_process";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { until } from "../helpers/until.ts";
import { installAppleCli, type AppleCli } from "./install.ts";

const minimal = process.env["GLOVEBOX_TEST_IMAGE_MINIMAL"] ?? "glovebox-test/minimal:1";
const hint = "Ensure container system service has been started with `container system start`.\n";

describe.each(["docker"])("faults of the stand-in for Apple's command, on %s", () => {
  let cli: AppleCli;
  beforeAll(async () => {
    cli = await installAppleCli();
    await cli.call(["run", "-d", "--progress", "none", "--init", "--name", "box", "--", minimal, "sleep", "600"]);
  });
  afterEach(() => cli.fail(undefined));
  afterAll(() => cli.remove());

  it("a daemon that is down answers nothing but what is said of itself, until it is started", async () => {
    cli.fail({ kind: "daemon-down" });
    expect(await cli.call(["list", "--format", "json"])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `Error: internalError: "failed to list containers" (cause: "interrupted: "XPC connection error: Connection invalid"")\n${hint}`,
    });
    expect((await cli.call(["exec", "box", "true"])).stderr).toContain("Connection invalid");
    expect(await cli.call(["system", "status"])).toMatchObject({ exitCode: 1, stdout: "apiserver is not running\n" });
    expect(JSON.parse((await cli.call(["system", "version", "--format", "json"])).stdout)).toHaveLength(1);
    expect((await cli.call(["no-such-command"])).stderr).toContain("Plugins are unavailable.");
    expect((await cli.call(["--version"])).exitCode).toBe(0);
    expect((await cli.call(["system", "start"])).exitCode).toBe(0);
    expect((await cli.call(["exec", "box", "true"])).exitCode).toBe(0);
    expect((await cli.call(["system", "status", "--format", "json"])).stdout).toContain('"status":"running"');
  });

  it("a daemon that is broken cannot be started either", async () => {
    cli.fail({ kind: "daemon-broken" });
    expect(await cli.call(["system", "start"])).toMatchObject({ exitCode: 1 });
    expect((await cli.call(["system", "start"])).stderr).toContain("failed to get a response from apiserver");
  });

  it("a call that hangs says nothing, and ends by SIGKILL alone", async () => {
    cli.fail({ kind: "hang", commands: ["list"] });
    const before = (await cli.calls()).length;
    const child = spawn(cli.command, ["list"], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes: Buffer) => (said += bytes.toString()));
    const ended = new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal })));
    await until(async () => (await cli.calls()).length > before);
    child.kill("SIGTERM");
    child.kill("SIGKILL");
    expect(await ended).toEqual({ code: null, signal: "SIGKILL" });
    expect(said).toBe("");
  });

  it("a daemon that takes too long is reported in the command's own words", async () => {
    cli.fail({ kind: "late", times: 1 });
    const { exitCode, stderr } = await cli.call(["list"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("XPC timeout for request to com.apple.container.")]);
    expect((await cli.call(["list"])).exitCode, "once only").toBe(0);
  });

  it("a connection that breaks hides work that was done", async () => {
    cli.fail({ kind: "interrupted", times: 1 });
    expect(await cli.call(["create", "--name", "hidden", minimal])).toMatchObject({ exitCode: 1, stdout: "" });
    expect((await cli.call(["list", "-a", "-q"])).stdout).toContain("hidden\n");
    cli.fail({ kind: "interrupted", commands: ["exec"] });
    expect(await cli.call(["exec", "box", "sh", "-c", "echo said"])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `Error: interrupted: "XPC connection error: Connection interrupted"\n${hint}`,
    });
    cli.fail({ kind: "interrupted", commands: ["delete"] });
    expect(await cli.call(["delete", "hidden"])).toMatchObject({ exitCode: 1, stdout: "" });
    expect((await cli.call(["list", "-a", "-q"])).stdout).toBe("box\n");
  });

  it("output that is cut off ends in the middle", async () => {
    cli.fail({ kind: "truncated" });
    const { exitCode, stdout, stderr } = await cli.call(["exec", "box", "sh", "-c", "yes | head -c 4096"]);
    expect([exitCode, stdout.length, stderr]).toEqual([1, 512, "Error: failed to exec process CancellationError()\n"]);
    const { stdout: list } = await cli.call(["list", "--format", "json"]);
    expect(list).toMatch(/^\[\{/);
    expect(() => JSON.parse(list) as unknown).toThrow(SyntaxError);
  });

  it("a dead network lets nothing through until the daemon is restarted", async () => {
    cli.fail({ kind: "network-dead" });
    const run = (name: string) =>
      cli.call(["run", "--rm", "--progress", "none", "--name", name, minimal, "sh", "-c", "ls /sys/class/net"]);
    expect((await run("dead")).stdout).toBe("lo\n");
    expect((await cli.call(["image", "pull", "--progress", "none", "127.0.0.1:1/a:1"])).stderr).toContain(
      "connectTimeout",
    );
    expect(await cli.call(["system", "stop"])).toMatchObject({ exitCode: 0 });
    expect((await cli.call(["list", "-a"])).stderr).toContain("Connection invalid");
    expect(await cli.call(["system", "start"])).toMatchObject({ exitCode: 0 });
    expect((await run("alive")).stdout).toContain("eth0");
    expect((await cli.call(["start", "box"])).stdout, "it was stopped with the daemon").toBe("box\n");
  });

  it("ports that may not be opened keep a container from starting", async () => {
    cli.fail({ kind: "port-denied" });
    const { exitCode, stderr } = await cli.call(["run", "-d", "--progress", "none", "-p", "40001:80", minimal, "true"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Permission denied (errno: 13)")]);
    expect((await cli.call(["list", "-a", "-q"])).stdout).toBe("box\n");
  });

  it("signals to the command do not reach the program from 1.0.0 on", async () => {
    const child = spawn(cli.command, [
      "exec",
      "box",
      "sh",
      "-c",
      "trap 'echo caught' TERM; echo up; sleep 600 & wait; echo over",
    ]);
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].on("data", (bytes: Buffer) => (said[name] += bytes.toString()));
    }
    const ended = new Promise((resolve) => child.on("close", resolve));
    await until(() => said.stdout === "up\n");
    const failures = (): number => said.stderr.split("missing signal in xpc message").length - 1;
    for (const count of [1, 2, 3]) {
      child.kill("SIGTERM");
      await until(() => failures() === count || child.exitCode !== null);
    }
    expect(await ended).toBe(1);
    expect(said.stdout).toBe("up\n");
    expect((await cli.call(["exec", "box", "ps"])).stdout).toContain("echo caught");
  });

  it("another version is another command", async () => {
    await cli.become("0.12.3");
    try {
      expect((await cli.call(["--version"])).stdout).toMatch(/^container CLI version 0\.12\.3 /);
      expect(JSON.parse((await cli.call(["list", "--format", "json"])).stdout)).toMatchObject([{ status: "running" }]);
      expect(await cli.call(["inspect", "no-such"])).toMatchObject({ exitCode: 0, stdout: "[\n\n]\n" });
      expect((await cli.call(["run", "--shm-size", "1m", minimal])).exitCode).toBe(64);
      await cli.become("0.9.0");
      const refused = await cli.call(["delete", "-f", "box", "no-such"]);
      expect(refused.stderr).toBe('Error: notFound: "failed to delete one or more containers: ["no-such"]"\n');
      expect(await cli.call(["stop", "no-such"])).toEqual({ exitCode: 0, stdout: "", stderr: "" });
      expect((await cli.call(["exec", "no-such", "true"])).stderr).toMatch(/^Error: notFound: "/);
      await cli.become("1.4.1");
      const status = JSON.parse((await cli.call(["system", "status", "--format", "json"])).stdout) as unknown;
      expect(status).toMatchObject({ status: "running", server: { version: "1.4.1" } });
    } finally {
      await cli.become("1.2.2");
    }
  });
});
