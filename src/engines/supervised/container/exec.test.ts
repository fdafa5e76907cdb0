import { describe, expect, it, onTestFinished, vi } from "vitest";
import { failureOf } from "../../../../test/helpers/failure-of.ts";
import { startedScene } from "../../../../test/helpers/supervised-scene.ts";
import type { SupervisorStandIn } from "../../../../test/helpers/supervisor-stand-in.ts";
import type { Process } from "../../engine.ts";
import type { SupervisedContainer } from "./supervised-container.ts";

async function executed(container: SupervisedContainer, standIn: SupervisorStandIn): Promise<Process> {
  const exec = container.exec({ command: ["a"] });
  await standIn.next("SPAWN");
  standIn.say("STARTED", 1, { pid: 2 });
  return exec;
}

async function said({ output }: Process): Promise<string> {
  let text = "";
  for await (const { stream, bytes } of output) text += `${stream}: ${Buffer.from(bytes).toString()}`;
  return text;
}

describe("exec of a supervised container", () => {
  it("has the image's variables, the container's and its own, and the container's user and folder", async () => {
    const { container, standIn } = await startedScene();
    const exec = container.exec({ command: ["a"], environment: { OWN: "1" } });
    const { fields } = await standIn.next("SPAWN");
    expect(fields).toMatchObject({ user: 65_527, group: 65_527, flags: 1 });
    standIn.say("STARTED", 1, { pid: 2 });
    await exec;
    await standIn.next("INPUT");
    expect(standIn.input(1).toString()).toBe("/work\0a\0PATH=/bin\0FROM=spec\0HOME=/tmp\0OWN=1\0");
  });

  it("has only the image's and its own without the container's, and who and where it says", async () => {
    const { container, standIn } = await startedScene({ rootCapabilities: ["CHOWN"] });
    const own = { inheritsEnvironment: false, workingDirectory: "/else", user: "0:5" };
    const exec = container.exec({ command: ["a"], ...own });
    // As root where root was given capabilities: it keeps them.
    expect((await standIn.next("SPAWN")).fields).toMatchObject({ user: 0, group: 5, flags: 1 | 8 });
    standIn.say("STARTED", 1, { pid: 2 });
    await exec;
    await standIn.next("INPUT");
    expect(standIn.input(1).toString()).toBe("/else\0a\0PATH=/bin\0FROM=image\0");
  });

  it("gives capabilities to nobody but root, and to no root where there are none", async () => {
    const { container, standIn } = await startedScene({ rootCapabilities: ["CHOWN"] });
    void container.exec({ command: ["a"] });
    expect((await standIn.next("SPAWN")).fields.flags).toBe(1);
    for (const rootCapabilities of [undefined, []]) {
      const scene = await startedScene({ rootCapabilities });
      void scene.container.exec({ command: ["a"], user: "0:0" });
      expect((await scene.standIn.next("SPAWN")).fields.flags).toBe(1);
    }
  });

  it.each(["root", "1", "1:2:3", "-1:0", "4294967295:0", "0:4294967295", " 1:1", "1.5:1"])(
    "refuses the user %j",
    async (user) => {
      const { container, standIn } = await startedScene();
      await failureOf(container.exec({ command: ["a"], user }), "INVALID_REQUEST");
      expect(await container.isAlive()).toBe(true);
      expect(standIn.got("SPAWN")).toEqual([]);
    },
  );

  it.each([
    ["PROGRAM", 9, 2, 127, "a: not found"],
    ["PROGRAM", 9, 13, 126, "a: permission denied"],
    ["PROGRAM", 9, 8, 126, "a: exec format error"],
    ["PROGRAM", 9, 21, 126, "a: is a directory"],
    ["FOLDER", 8, 2, 126, "cannot enter the working directory /work: no such file or directory"],
    ["FORK", 4, 12, 126, "a: cannot be started: no memory is left"],
    ["PIPES", 3, 24, 126, "a: cannot be started: too many open files"],
  ])("is a result when it fails at %s (stage %d, errno %d)", async (_, stage, error, exitCode, message) => {
    const { container, standIn } = await startedScene();
    const exec = container.exec({ command: ["a"] });
    await standIn.next("SPAWN");
    standIn.end(1, { reason: 1, stage, error });
    const process = await exec;
    expect(await process.exit).toEqual({ exitCode });
    expect(await said(process)).toBe(`stderr: ${message}\n`);
    await process.kill("SIGKILL");
    expect(await process.isGone?.()).toBe(true);
  });

  it("says what would be right where the kernel takes no arguments as long", async () => {
    const { container, standIn } = await startedScene();
    const exec = container.exec({ command: ["a"] });
    await standIn.next("SPAWN");
    standIn.end(1, { reason: 1, stage: 9, error: 7 });
    const error = await failureOf(exec, "INVALID_REQUEST");
    expect(error).toMatchObject({ context: { field: "command", reason: "E2BIG" } });
    expect(await container.isAlive()).toBe(true);
  });

  it("is tried again while no process is left: those of a program that has ended go a moment later", async () => {
    const { container, standIn } = await startedScene();
    const exec = container.exec({ command: ["a"] });
    for (const tries of [1, 2]) {
      await standIn.next("SPAWN", tries);
      standIn.end(tries, { reason: 1, stage: 4, error: 11 });
    }
    await standIn.next("SPAWN", 3);
    standIn.say("STARTED", 3, { pid: 2 });
    expect(await (await exec).isGone?.()).toBe(false);
  });

  it("is a result when no process is left for long, after six tries", async () => {
    const { container, standIn } = await startedScene();
    const exec = container.exec({ command: ["a"] });
    for (const tries of [1, 2, 3, 4, 5, 6]) {
      await standIn.next("SPAWN", tries);
      standIn.end(tries, { reason: 1, stage: 4, error: 11 });
    }
    const process = await exec;
    expect(await process.exit).toEqual({ exitCode: 126 });
    expect(await said(process)).toBe("stderr: a: cannot be started: no process is left\n");
  });

  it.each([
    ["USER", 6, 1, "SANDBOX_LOST"],
    ["FILTER", 7, 22, "SANDBOX_LOST"],
    ["STREAMS", 1, 0, "CAPACITY"],
  ] as const)("is an error when it fails at %s", async (_, stage, error, type) => {
    const { container, standIn } = await startedScene();
    const exec = failureOf(container.exec({ command: ["a"] }), type);
    await standIn.next("SPAWN");
    standIn.end(1, { reason: stage === 1 ? 5 : 1, stage, error });
    await exec;
  });

  it("leaves nothing behind when it is given up", async () => {
    const { container, standIn } = await startedScene();
    const abort = new AbortController();
    const exec = failureOf(container.exec({ command: ["a"] }, { signal: abort.signal }), "CANCELLED");
    await standIn.next("SPAWN");
    abort.abort();
    expect(await standIn.next("END_TREE")).toMatchObject({ stream: 1, fields: { graceMs: 0 } });
    standIn.say("STARTED", 1, { pid: 2 });
    standIn.say("EXIT", 1, { code: 0, signal: 9, userUs: 0n, systemUs: 0n, maxResidentKb: 0n });
    standIn.end(1);
    await exec;
  });

  it("is signalled alone, terminated with all that it started, and killed until nothing is left", async () => {
    const { container, standIn } = await startedScene();
    const process = await executed(container, standIn);
    await process.signal?.("SIGINT");
    await process.kill("SIGTERM");
    await standIn.next("SIGNAL", 2);
    expect(standIn.got("SIGNAL").map(({ fields }) => fields)).toEqual([
      { signal: 2, scope: 0 },
      { signal: 15, scope: 1 },
    ]);
    let isKilled = false;
    const killed = process.kill("SIGKILL").then(() => (isKilled = true));
    await standIn.next("END_TREE");
    // Nobody has read its output, which holds the kill up no longer.
    standIn.output(1, Buffer.alloc(60_000));
    await standIn.next("CREDIT");
    standIn.say("EXIT", 1, { code: 0, signal: 9, userUs: 0n, systemUs: 0n, maxResidentKb: 0n });
    expect(await process.exit).toEqual({ exitCode: 137 });
    expect(isKilled).toBe(false);
    standIn.end(1);
    await killed;
    expect(await process.isGone?.()).toBe(true);
    expect((await said(process)).length).toBe("stdout: ".length * 1 + 60_000);
  });

  it("is gone when it has ended and nothing of its tree lives", async () => {
    const { container, standIn } = await startedScene();
    const process = await executed(container, standIn);
    expect(await process.isGone?.()).toBe(false);
    standIn.exit(1);
    await process.exit;
    const first = process.isGone?.();
    await standIn.next("ASK_LEFT");
    standIn.say("LEFT", 1, { count: 1, tail: Buffer.alloc(24) });
    expect(await first).toBe(false);
    const second = process.isGone?.();
    await standIn.next("ASK_LEFT", 2);
    standIn.say("LEFT", 1, { count: 0, tail: Buffer.alloc(0) });
    expect(await second).toBe(true);
  });

  it("is lost, and neither done nor killed, when its warden was ended", async () => {
    const { container, standIn } = await startedScene();
    const process = await executed(container, standIn);
    standIn.end(1, { reason: 2 });
    const error = await failureOf(process.exit, "SANDBOX_LOST");
    expect(error.message).toMatch(/stopped or killed the process that watches/);
  });

  it("has a terminal when it is asked for one", async () => {
    const { container, standIn } = await startedScene();
    const exec = container.execInTerminal({ command: ["sh"] }, { rows: 24, columns: 80 });
    expect((await standIn.next("SPAWN")).fields).toMatchObject({ flags: 3, rows: 24, columns: 80 });
    standIn.say("STARTED", 1, { pid: 2 });
    const process = await exec;
    process.resize({ rows: 1, columns: 2 });
    expect((await standIn.next("RESIZE")).fields).toEqual({ rows: 1, columns: 2 });
  });
});

describe("the output of a program that has ended", () => {
  function fakeTimers(): void {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
  }

  it("ends after silence, although a daemon holds its pipes, and what the daemon writes holds nothing up", async () => {
    const { container, standIn } = await startedScene();
    const process = await executed(container, standIn);
    fakeTimers();
    standIn.output(1, "parent");
    standIn.exit(1);
    await process.exit;
    standIn.output(1, " and rest");
    await container.isAlive();
    for (let look = 0; look < 4; look += 1) {
      vi.advanceTimersByTime(250);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await said(process)).toBe("stdout: parent and rest");
    for (let round = 0; round < 10; round += 1) {
      standIn.output(1, Buffer.alloc(60_000));
      await container.isAlive();
    }
    expect(standIn.got("CREDIT").length).toBeGreaterThanOrEqual(10);
  });

  it("ends at its bound although a child writes on", async () => {
    const { container, standIn } = await startedScene();
    const process = await executed(container, standIn);
    fakeTimers();
    standIn.exit(1);
    await process.exit;
    const text = said(process);
    for (let look = 0; look < 11; look += 1) {
      standIn.output(1, "child");
      await container.isAlive();
      vi.advanceTimersByTime(250);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await text).toMatch(/child/);
  });
});
