import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import { gloveboxEnvironment } from "../helpers/mcp-client.ts";
import { isNobodysUser } from "../helpers/nobodys-user.ts";
import { useOwnedSandbox, type OwnedSandbox } from "../helpers/owned-sandbox.ts";
import { allOwners } from "../helpers/owner-table.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { until } from "../helpers/until.ts";

interface Visitor {
  said(): string;
  readonly ended: Promise<number | null>;
}

/** A `glovebox exec` that a test ends in its own way. */
function visitor(sandbox: OwnedSandbox, argv: readonly string[]): ChildProcess & Visitor {
  const child = spawn(gloveboxCommand, argv, {
    env: gloveboxEnvironment(sandbox.environment),
    stdio: "pipe",
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = once(child, "exit").then(([code]) => code as number | null);
  return Object.assign(child, { said: () => said, ended });
}

describe.each(allOwners)("glovebox exec in $name", (owner) => {
  const { current, renew } = useOwnedSandbox(owner);

  it("runs a command of another process's sandbox, with its streams and its exit code", async () => {
    const { id, glovebox } = current();
    const result = await glovebox(["exec", id, "sh", "-c", "pwd; id -u; echo $HOME; echo no >&2; exit 7"]);
    expect(result).toMatchObject({ exitCode: 7, stderr: "no\n" });
    const [folder, uid = "", home] = result.stdout.split("\n");
    expect({ folder, isNobodys: isNobodysUser(uid), home }).toEqual({
      ...{ folder: owner.folder, isNobodys: true, home: "/tmp" },
    });
    expect(await glovebox(["exec", id, "--", "echo", "--", "after"])).toMatchObject({
      exitCode: 0,
      stdout: "-- after\n",
    });
    const nothing = await glovebox(["exec", id, "--"]);
    expect(nothing).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("COMMAND: expected the program to run"),
    });
    const options = ["--cwd", "/tmp", "--env", "A=b c", "--env", "D=", "--json"];
    const json = await glovebox(["exec", ...options, id, "sh", "-c", 'pwd; echo "$A$D"; exit 3']);
    expect(json.exitCode).toBe(3);
    expect(JSON.parse(json.stdout)).toEqual({
      sandbox_id: id,
      exit_code: 3,
      stdout: "/tmp\nb c\n",
      stderr: "",
      stdout_truncated: false,
      stderr_truncated: false,
    });
  });

  it("refuses to be another user, who could be somebody of this machine", async () => {
    const { id, glovebox } = current();
    for (const [user, error] of [
      ["1000", "UNSUPPORTED"],
      ["root", "UNSUPPORTED"],
      ["0x0", "INVALID_REQUEST"],
      ["60706", "UNSUPPORTED"],
    ] as const) {
      const refused = await glovebox(["exec", "-u", user, id, "id", "-u"]);
      expect(refused.stdout).toBe("");
      expect(refused.stderr).toContain(error);
    }
  });

  it("passes standard input on when asked, and gives none otherwise", async () => {
    const { id, glovebox } = current();
    const input = "line\n".repeat(200_000);
    const counted = await glovebox(["exec", "-i", id, "wc", "-c"], { stdin: input });
    expect(counted.stdout.trim()).toBe(String(input.length));
    expect(await glovebox(["exec", id, "cat"], { stdin: input })).toMatchObject({ exitCode: 0, stdout: "" });
    const flood = await glovebox(["exec", id, "head", "-c", "5000000", "/dev/zero"]);
    expect(flood.stdout.length).toBe(5_000_000);
  });

  it("leaves options behind the command to the command, and says what does not exist", async () => {
    const { id, glovebox } = current();
    expect((await glovebox(["exec", id, "echo", "--json", "-t", "--", "x"])).stdout).toBe("--json -t -- x\n");
    expect((await glovebox(["exec", id, "no-such-program"])).exitCode).toBe(127);
    const unknown = await glovebox(["exec", "sbx-nothing", "true"]);
    expect(unknown.exitCode).toBe(125);
    expect(unknown.stderr).toContain("NOT_FOUND");
    expect(unknown.stderr).toContain(id);
    expect((await glovebox(["exec", "sbx-nothing", "echo", "--json"])).stdout).toBe("");
    const asJson = await glovebox(["exec", "--json", "sbx-nothing", "true"]);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ error: { error_type: "NOT_FOUND" } });
    expect((await glovebox(["exec", "--cwd", "relative", id, "true"])).exitCode).toBe(2);
    expect((await glovebox(["exec", "--no-such", id, "true"])).exitCode).toBe(2);
  });

  it("ends what a command has left running", async () => {
    const { id, glovebox } = current();
    const seconds = uniqueSeconds();
    const line = `setsid sleep ${seconds} >/dev/null 2>&1 & sleep 0.2; echo started`;
    expect((await glovebox(["exec", id, "sh", "-c", line])).stdout).toBe("started\n");
    expect(sleepersFor(seconds)).toEqual([]);
  });

  it.each([
    ["SIGKILL", null],
    ["SIGINT", 130],
  ] as const)("ends all of a command and nothing else at %s of the visitor", async (end, exitCode) => {
    const sandbox = current();
    const [owners, mine, hidden] = [uniqueSeconds(), uniqueSeconds(), uniqueSeconds()];
    const running = sandbox.start(`sleep ${owners}`);
    await until(() => sleepersFor(owners).length > 0);
    // Its output is endless and is not read.
    const line = `trap '' TERM; (setsid env -i sleep ${hidden} &) ; sleep ${mine} & yes`;
    const child = visitor(sandbox, ["exec", sandbox.id, "sh", "-c", line]);
    // Node keeps trying to write to a full pipe, and handles no signals meanwhile.
    if (end === "SIGINT") child.stdout?.resume();
    await until(() => sleepersFor(mine).length > 0 && sleepersFor(hidden).length > 0);
    child.kill(end);
    expect(await child.ended).toBe(exitCode);
    await until(() => [...sleepersFor(mine), ...sleepersFor(hidden)].length === 0);
    expect(sleepersFor(owners)).toHaveLength(1);
    expect((await sandbox.glovebox(["exec", sandbox.id, "echo", "usable"])).stdout).toBe("usable\n");
    for (const pid of sleepersFor(owners)) process.kill(pid, "SIGKILL");
    await running;
  });

  it("ends with a clear error when the owner is killed, and says so from then on", async () => {
    const sandbox = current();
    const seconds = uniqueSeconds();
    const child = visitor(sandbox, ["exec", sandbox.id, "sleep", seconds]);
    await until(() => sleepersFor(seconds).length > 0);
    process.kill(sandbox.connection.pid, "SIGKILL");
    expect(await child.ended).toBe(125);
    expect(child.said()).toContain("The process that owns the sandbox has ended");
    const later = await sandbox.glovebox(["exec", sandbox.id, "true"]);
    expect(later).toMatchObject({ exitCode: 125, stdout: "" });
    expect(later.stderr).toContain("has ended");
    expect(later.stderr).toContain("glovebox prune");
    expect((await sandbox.glovebox(["prune"])).exitCode).toBe(0);
    expect((await sandbox.glovebox(["exec", sandbox.id, "true"])).stderr).toContain("NOT_FOUND");
    await until(() => sleepersFor(seconds).length === 0);
    await renew();
  });

  it("ends when its owner ends", async () => {
    const sandbox = current();
    const seconds = uniqueSeconds();
    const child = visitor(sandbox, ["exec", sandbox.id, "sh", "-c", `trap '' TERM; sleep ${seconds}; sleep 1`]);
    await until(() => sleepersFor(seconds).length > 0);
    await sandbox.connection.client.close();
    expect(await child.ended).toBe(125);
    // Whichever the owner ends first, the sandbox or the connection.
    expect(child.said()).toMatch(/SANDBOX_LOST: (Sandbox \S+ was removed|The process that owns the sandbox has ended)/);
    await until(() => sleepersFor(seconds).length === 0);
    await until(async () => (await sandbox.glovebox(["exec", sandbox.id, "true"])).stderr.includes("NOT_FOUND"));
    await renew();
  });

  it("ends when another process removes the sandbox", async () => {
    const sandbox = current();
    const seconds = uniqueSeconds();
    const child = visitor(sandbox, ["exec", sandbox.id, "sleep", seconds]);
    await until(() => sleepersFor(seconds).length > 0);
    expect((await sandbox.glovebox(["rm", sandbox.id])).stdout).toBe(`${sandbox.id}\n`);
    expect(await child.ended).toBe(125);
    expect(child.said()).toContain(`SANDBOX_LOST: Sandbox ${sandbox.id} was removed.`);
    expect(sleepersFor(seconds)).toEqual([]);
  });
});
