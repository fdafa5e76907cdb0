import { describe, expect, it, onTestFinished, vi } from "vitest";
import { failureOf } from "../../../../test/helpers/failure-of.ts";
import { startedScene, supervisedScene } from "../../../../test/helpers/supervised-scene.ts";
import { until } from "../../../../test/helpers/until.ts";
import type { ContainerStats } from "../../container-stats.ts";
import { channelTimes } from "../channel/channel.ts";

const numbers = {
  ...{
    memoryBytes: 10n,
    memoryPeakBytes: 20n,
    memoryLimitBytes: 30n,
    memoryKills: 1n,
    cpuUs: 5000n,
    diskReadBytes: 7n,
    diskWriteBytes: 8n,
    memoryCacheBytes: 9n,
    scratchBytes: 10n,
  },
  ...{ processes: 1n, processLimit: 2n, monotonicUs: 0n, tail: Buffer.alloc(0) },
};

/** Timers that the test moves on. */
function fakeTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

describe("SupervisedContainer", () => {
  it("starts when the supervisor is what it must be", async () => {
    const { container, place } = await startedScene();
    expect(container.mountsVerified).toBe(true);
    expect(await container.isAlive()).toBe(true);
    await container.start();
    expect(place.calls).toEqual(["start"]);
  });

  it("runs nothing when the supervisor is something else, and ends it", async () => {
    const { container, place } = supervisedScene();
    place.saysHello = false;
    place.endsWithStream = false;
    const started = failureOf(container.start(), "UNSUPPORTED");
    await until(() => place.standIn !== undefined);
    place.standIn!.hello({ probe1: 0 });
    const error = await started;
    expect(error.message).toMatch(/not sealed as it must be \(answer to probe 1/);
    expect(place.calls).toContain("kill");
    await failureOf(container.exec({ command: ["a"] }), "UNSUPPORTED");
  });

  it("gives up a start that is cancelled, and ends what it has begun", async () => {
    const { container, place } = supervisedScene();
    place.saysHello = false;
    const abort = new AbortController();
    const started = failureOf(container.start({ signal: abort.signal }), "CANCELLED");
    await until(() => place.standIn !== undefined);
    abort.abort();
    await started;
    expect(place.standIn!.transport.destroyed).toBe(true);
    expect(await container.isAlive()).toBe(false);
  });

  it("has another epoch at each start, and none is zero", async () => {
    const { container, place } = supervisedScene({}, { firstEpoch: 65_535 });
    place.firstEpoch = 65_535;
    await container.start();
    const killed = container.kill();
    await place.standIn!.next("END_TREE");
    place.standIn!.side.end();
    await killed;
    expect(await container.isAlive()).toBe(false);
    place.firstEpoch = 1;
    await container.start();
    expect(place.standIn!.epoch).toBe(1);
    expect(await container.isAlive()).toBe(true);
  });

  it("says OOM_KILLED when the engine does", async () => {
    const { container, place, standIn } = await startedScene();
    place.state = { running: false, exitCode: 137, oomKilled: true };
    const exec = failureOf(container.exec({ command: ["a"] }), "OOM_KILLED");
    await standIn.next("SPAWN");
    standIn.side.end();
    expect((await exec).message).toContain("ran out of memory");
    expect(await container.inspect()).toEqual({ running: false, exitCode: 137, oomKilled: true });
    await failureOf(container.connect(80), "OOM_KILLED");
  });

  it("says SANDBOX_LOST otherwise, asks the engine once, and kills what goes on without its stream", async () => {
    const { container, place, standIn } = await startedScene();
    place.endsWithStream = false;
    const waiting = container.wait();
    const exec = failureOf(container.exec({ command: ["a"] }), "SANDBOX_LOST");
    await standIn.next("SPAWN");
    standIn.output(99, "a lie");
    expect((await exec).context).toEqual({ engine: "test", reason: "nonsense" });
    expect(place.calls.slice(0, 3)).toEqual(["start", "kill", "inspect"]);
    expect(await waiting).toMatchObject({ running: false });
    expect(await container.isAlive()).toBe(false);
  });

  it("is not alive when the supervisor does not answer", async () => {
    const { container, standIn } = await startedScene();
    standIn.answersPings = false;
    fakeTimers();
    const alive = container.isAlive();
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await alive).toBe(false);
  });

  it("tells what the supervisor counts, and asks the engine for what it cannot see", async () => {
    const { container, standIn } = await startedScene();
    const stats = container.stats();
    await standIn.next("NUMBERS");
    standIn.say("STATS", 0, numbers);
    expect(await stats).toMatchObject({
      memoryBytes: 10,
      memoryPeakBytes: 20,
      oomKills: 1,
      cpuTimeMs: 5,
      diskReadBytes: 7,
      diskWriteBytes: 8,
      memoryCacheBytes: 9,
      scratchBytes: 10,
    });
    const unseen = container.stats();
    await standIn.next("NUMBERS", 2);
    standIn.say("STATS", 0, { ...numbers, memoryBytes: 2n ** 64n - 1n });
    expect(await unseen).toMatchObject({ memoryBytes: 4711, oomKills: null });
    const state = container.inspect();
    await standIn.next("NUMBERS", 3);
    standIn.say("STATS", 0, numbers);
    expect(await state).toEqual({ running: true, exitCode: null, oomKilled: true });
    standIn.side.end();
    await container.wait();
    expect(await container.stats()).toMatchObject({ memoryBytes: 4711 });
  });

  it("tells what it used when we ended it, and asks no engine for that", async () => {
    const { container, standIn, place } = await startedScene();
    const killed = container.kill();
    await standIn.next("NUMBERS");
    expect(standIn.got("END_TREE")).toEqual([]);
    standIn.say("STATS", 0, numbers);
    await standIn.next("END_TREE");
    standIn.side.end();
    await killed;
    expect(await container.stats()).toMatchObject({ memoryBytes: 10, memoryPeakBytes: 20, oomKills: 1 });
    await container.start();
    const now = container.stats();
    await place.standIn!.next("NUMBERS");
    place.standIn!.say("STATS", 0, { ...numbers, memoryBytes: 11n });
    expect(await now, "of the new start").toMatchObject({ memoryBytes: 11 });
  });

  it("is ended whether or not it tells its last numbers, for which the engine is asked then", async () => {
    const { container, standIn } = await startedScene();
    fakeTimers();
    const killed = container.kill();
    await vi.advanceTimersByTimeAsync(200);
    expect(standIn.got("END_TREE")).toHaveLength(1);
    standIn.side.end();
    await killed;
    expect(await container.stats()).toMatchObject({ memoryBytes: 4711 });
  });

  it("has what the supervisor counts pushed to whoever watches, also after a new start", async () => {
    const { container, standIn, place } = await startedScene();
    const told: ContainerStats[] = [];
    expect(container.watchStats((stats) => told.push(stats))).toBe(true);
    expect((await standIn.next("NUMBERS")).fields).toEqual({ intervalMs: 1_000 });
    standIn.say("STATS", 0, numbers);
    await until(() => told.length === 1);
    expect(told).toMatchObject([
      {
        memoryBytes: 10,
        memoryPeakBytes: 20,
        oomKills: 1,
        cpuTimeMs: 5,
        diskReadBytes: 7,
        diskWriteBytes: 8,
        memoryCacheBytes: 9,
        scratchBytes: 10,
      },
    ]);
    standIn.side.end();
    await container.wait();
    await container.start();
    const asked = (): object[] => place.standIn!.got("NUMBERS").map(({ fields }) => fields);
    await expect.poll(asked).toEqual([{ intervalMs: 1_000 }]);
  });

  it("leaves what a supervisor without control groups cannot see to the engine", async () => {
    const { container, place } = supervisedScene();
    place.helloInstead = { cgroup: 0 };
    await container.start();
    expect(container.watchStats(() => expect.fail("nothing is pushed"))).toBe(false);
    const stats = container.stats();
    await place.standIn!.next("NUMBERS");
    place.standIn!.say("STATS", 0, { ...numbers, memoryBytes: 0xffff_ffff_ffff_ffffn });
    expect(await stats).toMatchObject({ memoryBytes: 4711, cpuTimeMs: null, scratchBytes: 10 });
  });

  it("kills everything, which then counts as killed", async () => {
    const { container, standIn, place } = await startedScene();
    const exec = container.exec({ command: ["sleep"] });
    await standIn.next("SPAWN");
    standIn.say("STARTED", 1, { pid: 2 });
    const process = await exec;
    const killed = container.kill();
    expect((await standIn.next("END_TREE")).fields).toEqual({ graceMs: 0 });
    standIn.side.end();
    await killed;
    expect(await process.exit).toEqual({ exitCode: 137 });
    expect(await container.inspect()).toMatchObject({ running: false, exitCode: 137 });
    await container.kill();
    expect(place.calls).not.toContain("kill");
  });

  it("has the engine kill it when the supervisor does not", async () => {
    const { container, place, standIn } = await startedScene();
    fakeTimers();
    const killed = container.kill();
    await vi.advanceTimersByTimeAsync(6_000);
    expect(standIn.got("END_TREE")).toHaveLength(1);
    await killed;
    expect(place.calls).toContain("kill");
    expect(standIn.transport.destroyed).toBe(true);
  });

  it("stops everything with a grace", async () => {
    const { container, standIn } = await startedScene();
    const stopped = container.stop(750);
    expect((await standIn.next("END_TREE")).fields).toEqual({ graceMs: 750 });
    standIn.say("TROUBLE", 0, { code: 0, tail: Buffer.from("as asked") });
    await stopped;
    expect(await container.inspect()).toMatchObject({ running: false });
  });

  it("is removed by the engine, and its stream is given up", async () => {
    const { container, place, standIn } = await startedScene();
    await container.remove();
    expect(place.calls).toEqual(["start", "remove"]);
    expect(standIn.transport.destroyed).toBe(true);
  });

  it("lets go who waits for one that is removed before its start", async () => {
    const { container } = supervisedScene();
    const waiting = failureOf(container.wait(), "SANDBOX_LOST");
    await container.remove();
    await waiting;
  });

  it("is patient with a sandbox that is paused to be made an image of", async () => {
    const times = { ...channelTimes, pingMs: 5, maxUnanswered: 2 };
    const { container, place, standIn } = await startedScene({}, { times });
    place.commit = async () => {
      standIn.answersPings = false;
      await new Promise((resolve) => setTimeout(resolve, 100));
      standIn.answersPings = true;
      return "image";
    };
    expect(await container.commit({ a: "b" })).toBe("image");
    expect(await container.isAlive()).toBe(true);
    standIn.answersPings = false;
    await container.wait();
    await failureOf(container.exec({ command: ["a"] }), "SANDBOX_LOST");
  });

  it("measures what programs wrote only where they can", async () => {
    const closed = supervisedScene().container;
    expect([await closed.writtenBytes(), await closed.writtenFolder()]).toEqual([null, null]);
    const { container } = supervisedScene({ writableRoot: { folders: [] } });
    expect([await container.writtenBytes(), await container.writtenFolder()]).toEqual([5, "/upper"]);
  });

  it("does nothing before its start", async () => {
    const { container } = supervisedScene();
    await failureOf(container.exec({ command: ["a"] }), "SANDBOX_LOST");
    await failureOf(container.connect(80), "SANDBOX_LOST");
    expect(await container.isAlive()).toBe(false);
    expect(await container.stats()).toMatchObject({ memoryBytes: 4711 });
    expect(container.folderOf("/x")).toBe("/x");
  });
});

describe("a container with a command of its own", () => {
  it("runs it from its start, with what was typed before, and ends with it", async () => {
    const { container, place } = supervisedScene({ command: ["main", "x"] });
    const process = await container.attach();
    process.stdin.end("early");
    await container.attach().catch(() => undefined);
    const starting = container.start();
    await until(() => place.standIn?.got("SPAWN").length === 1);
    const standIn = place.standIn!;
    standIn.say("STARTED", 1, { pid: 2 });
    await starting;
    await standIn.next("INPUT_END");
    expect(standIn.input(1).toString()).toBe("/work\0main\0x\0PATH=/bin\0FROM=spec\0HOME=/tmp\0early");
    standIn.output(1, "all of it");
    standIn.exit(1, 3);
    for (const channel of [1, 2]) standIn.say("OUTPUT_END", 1, { channel });
    expect((await standIn.next("END_TREE")).stream).toBe(0);
    standIn.side.end();
    expect(await process.exit).toEqual({ exitCode: 3 });
    let said = "";
    for await (const { bytes } of process.output) said += Buffer.from(bytes).toString();
    expect(said).toBe("all of it");
    expect(await container.wait()).toEqual({ running: false, exitCode: 3, oomKilled: false });
  });

  it("ends with 127 when there is no such program", async () => {
    const { container, place } = supervisedScene({ command: ["nope"] });
    const process = await container.attach();
    const starting = container.start();
    await until(() => place.standIn?.got("SPAWN").length === 1);
    place.standIn!.end(1, { reason: 1, stage: 9, error: 2 });
    await starting;
    expect(await process.exit).toEqual({ exitCode: 127 });
    await place.standIn!.next("END_TREE");
    place.standIn!.side.end();
    expect(await container.wait()).toMatchObject({ running: false, exitCode: 127 });
  });

  it("is sent SIGTERM alone, and killed after the grace", async () => {
    const { container, place } = supervisedScene({ command: ["main"] });
    const starting = container.start();
    await until(() => place.standIn?.got("SPAWN").length === 1);
    const standIn = place.standIn!;
    standIn.say("STARTED", 1, { pid: 2 });
    await starting;
    const stopped = container.stop(10);
    expect((await standIn.next("SIGNAL")).fields).toEqual({ signal: 15, scope: 0 });
    expect((await standIn.next("END_TREE")).fields).toEqual({ graceMs: 0 });
    standIn.side.end();
    await stopped;
    expect(await container.inspect()).toMatchObject({ running: false, exitCode: 137 });
  });

  it("tells who is attached that it was removed before its start", async () => {
    const { container } = supervisedScene({ command: ["main"] });
    const process = await container.attach();
    process.stdin.write("lost");
    await container.remove();
    await failureOf(process.exit, "SANDBOX_LOST");
    for await (const chunk of process.output) expect(chunk).toBeUndefined();
    await failureOf(process.kill("SIGKILL"), "SANDBOX_LOST");
  });

  it("can be attached to once and before its start", async () => {
    await failureOf(supervisedScene().container.attach(), "UNSUPPORTED");
    const { container } = supervisedScene({ command: ["main"] });
    await container.attach();
    await failureOf(container.attach(), "UNSUPPORTED");
  });
});
