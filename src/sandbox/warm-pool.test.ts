import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { poolScene } from "../../test/helpers/pool-scene.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const seconds = (count: number): Promise<unknown> => vi.advanceTimersByTimeAsync(count * 1_000);

describe("demand", () => {
  it("begins with the first request, and each warm one serves once", async () => {
    const { pool, run, there } = poolScene();
    await seconds(10);
    expect(there.size, "nothing before anybody asks").toBe(0);
    const first = await run();
    expect(first.isWarm).toBe(false);
    await first.end();
    await seconds(2);
    expect(pool.size).toBe(1);
    const names = [...there.keys()];
    const second = await run();
    expect([second.isWarm, pool.size], "it is nobody else's").toEqual([true, 0]);
    await second.end();
    await seconds(2);
    expect(pool.size, "there is a new one").toBe(1);
    expect([...there.keys()]).not.toEqual(names);
  });

  it("grows with requests that found none, no further than the maximum, and comes down by itself", async () => {
    const { pool, run, there } = poolScene();
    const burst = await Promise.all(Array.from({ length: 6 }, () => run()));
    await Promise.all(burst.map((each) => each.end()));
    await seconds(5);
    expect(pool.size).toBe(3);
    const one = await run();
    await one.end();
    await seconds(125);
    expect(pool.size, "two were never needed").toBeLessThan(3);
    await seconds(300);
    expect([pool.size, there.size], "all are gone after idle_timeout").toEqual([0, 0]);
  });

  it("is met after a burst with as many at once as there are processors, one beside a run", async () => {
    const { run, pool, state } = poolScene();
    const burst = await Promise.all([run(), run(), run(), run()]);
    const { promise: ready, resolve: goOn } = Promise.withResolvers<void>();
    state.ready = ready;
    await Promise.all(burst.slice(1).map((each) => each.end()));
    await seconds(2);
    expect(state.held, "two processors, one of them a run's").toBe(1);
    await burst[0]?.end();
    await seconds(6);
    expect(state.held).toBe(2);
    goOn();
    await seconds(1);
    expect([pool.size, state.held]).toEqual([3, 3]);
  });

  it("keeps the minimum of what was asked for once", async () => {
    const { pool, run } = poolScene({ min: 1 });
    const burst = await Promise.all([run(), run()]);
    await Promise.all(burst.map((each) => each.end()));
    await seconds(3_000);
    expect(pool.size).toBe(1);
  });

  it("makes none of a kind that may never come again before it comes again", async () => {
    const { pool, take } = poolScene();
    await take("odd", 2);
    await seconds(5);
    expect(pool.size).toBe(0);
    await take("odd", 2);
    await seconds(5);
    expect(pool.size).toBe(1);
  });

  it("keeps none of a kind that was forgotten while it was made", async () => {
    const { pool, run, take, state, there } = poolScene();
    const { promise: ready, resolve: goOn } = Promise.withResolvers<void>();
    await (await run()).end();
    state.ready = ready;
    await seconds(2);
    expect(state.held, "it is under way").toBe(1);
    await Promise.all(Array.from({ length: 64 }, (_, number) => take(`other ${number}`, 2)));
    goOn();
    await seconds(1);
    expect([pool.size, there.size, state.held]).toEqual([0, 0, 0]);
  });

  it("gives the room of a kind that nobody asks for to one that somebody does", async () => {
    const { pool, run, take } = poolScene({ max: 1 });
    await (await run("old")).end();
    await seconds(15);
    await (await run("new")).end();
    await seconds(5);
    expect(pool.size).toBe(1);
    expect(await take("old")).toBeNull();
    expect(await take("new")).not.toBeNull();
  });

  it("makes none, and lets go, while the machine has little memory", async () => {
    const { pool, run, state } = poolScene();
    await (await run()).end();
    await seconds(2);
    expect(pool.size).toBe(1);
    state.freeBytes = 50;
    await seconds(6);
    expect(pool.size).toBe(0);
    await seconds(60);
    expect(pool.size).toBe(0);
  });
});

describe("places", () => {
  it("a warm one gives way to a request at once, and none is made in its way", async () => {
    const { pool, run, there } = poolScene({}, 1);
    await (await run("other")).end();
    await seconds(2);
    expect(pool.size).toBe(1);
    const running = await run();
    expect(running.isWarm).toBe(false);
    await seconds(60);
    expect([pool.size, there.size], "the one place is the run's").toEqual([0, 1]);
    await running.end();
    await seconds(6);
    expect(pool.size).toBe(1);
  });

  it("with every place taken and requests waiting, all are served and none is warm beside them", async () => {
    const { pool, run, there } = poolScene({}, 2);
    await (await run()).end();
    await seconds(2);
    let most = 0;
    const work = Array.from({ length: 8 }, async () => {
      const each = await run();
      most = Math.max(most, there.size);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await each.end();
    });
    const ended = Promise.all(work);
    await seconds(10);
    await ended;
    expect(most).toBe(2);
    await seconds(10);
    expect(pool.size).toBeGreaterThan(0);
  });

  it("one that is being made gives way too", async () => {
    const { pool, run, state, there } = poolScene({}, 1);
    await (await run()).end();
    const { promise: ready, resolve: goOn } = Promise.withResolvers<void>();
    state.ready = ready;
    await seconds(2);
    expect(state.held, "it is under way").toBe(1);
    const asked = run("other");
    goOn();
    const second = await asked;
    await seconds(30);
    expect([pool.size, there.size]).toEqual([0, 1]);
    expect(state.held, "and holds nothing any more").toBe(0);
    await second.end();
  });

  it("a principal at its own maximum waits, and what is warm stays for others", async () => {
    const { pool, run, sandboxes, take } = poolScene();
    await (await run()).end();
    await seconds(2);
    sandboxes.setMaximum("ann", 1);
    const held = await sandboxes.admit({ principal: "ann" });
    expect(await take()).toBeNull();
    expect(pool.size).toBe(1);
    held.release();
    expect(await take()).not.toBeNull();
  });
});

describe("what is handed out", () => {
  it("is well: one whose program has ended, or whose container does not answer, is nobody's", async () => {
    const { pool, run, state, take, there } = poolScene();
    await (await run()).end();
    await seconds(2);
    for (const { end } of there.values()) end({ exitCode: 137 });
    await seconds(0);
    expect([pool.size, there.size]).toEqual([0, 0]);
    await seconds(6);
    expect(pool.size).toBe(1);
    state.isFrozen = true;
    expect(await take()).toBeNull();
    expect(there.size).toBe(0);
  });

  it("is no older than the maximum, and made of the image as it is", async () => {
    const { pool, run, state, there } = poolScene({ min: 1, maxAgeMs: 60_000 });
    await (await run()).end();
    await seconds(2);
    const names = (): readonly string[] => [...there.keys()];
    const [first] = names();
    await seconds(66);
    const [second] = names();
    expect([first === second, pool.size]).toEqual([false, 1]);
    state.image = "image:2";
    await seconds(6);
    expect(names()).not.toContain(second);
  });

  it("is foreseen while its image has been seen a moment ago, and asked how it is once for that", async () => {
    const { pool, run, state, take, there } = poolScene({ min: 1 });
    expect(pool.foresees("docker", "python")).toBe(false);
    await (await run()).end();
    await seconds(2);
    expect([pool.foresees("podman", "python"), pool.foresees("docker", "node")]).toEqual([false, false]);
    expect([pool.foresees("docker", "python"), pool.foresees("docker", "python")]).toEqual([true, true]);
    const taken = await take();
    expect([taken !== null, state.checked]).toEqual([true, 1]);
    await taken?.sandbox.remove();
    await seconds(2);
    state.isMute = true;
    await seconds(11);
    expect([pool.size, pool.foresees("docker", "python")], "the engine has not said for long").toEqual([1, false]);
    state.isMute = false;
    await seconds(16);
    expect(pool.foresees("docker", "python")).toBe(true);
    const [waiting] = there.keys();
    state.image = "image:2";
    await seconds(6);
    expect([...there.keys()]).not.toContain(waiting);
  });

  it("is asked again when it was foreseen long ago", async () => {
    const { pool, run, state, take, there } = poolScene();
    await (await run()).end();
    await seconds(2);
    expect(pool.foresees("docker", "python")).toBe(true);
    await seconds(0.2);
    state.isFrozen = true;
    expect(await take()).toBeNull();
    expect(there.size).toBe(0);
  });

  it("keeps what is mounted in it until it is taken or goes", async () => {
    const { run, state, take } = poolScene({ idleMs: 60_000 });
    await (await run()).end();
    await seconds(2);
    expect(state.held).toBe(1);
    await take();
    await seconds(0);
    expect(state.held).toBe(0);
    await seconds(2);
    expect(state.held).toBe(1);
    await seconds(120);
    expect(state.held).toBe(0);
  });
});

it("tells by engine how many wait, and how many runs found one and how many did not", async () => {
  const { pool, run, sandboxes, take } = poolScene();
  expect(pool.use).toEqual({});
  await (await run()).end();
  await seconds(2);
  expect(pool.use).toEqual({ docker: { waiting: 1, hits: 0, misses: 1 } });
  expect(await take()).not.toBeNull();
  expect(pool.use).toEqual({ docker: { waiting: 0, hits: 1, misses: 1 } });
  await seconds(2);
  sandboxes.setMaximum("ann", 1);
  expect(await take(), "one waits, but the run has to wait for its place").toBeNull();
  expect(pool.use).toEqual({ docker: { waiting: 1, hits: 1, misses: 2 } });
  pool.close();
  expect(await take()).toBeNull();
  expect(pool.use["docker"]?.misses, "nothing is kept any more").toBe(2);
});

it("an engine that is down is left alone for a while, and runs go on as they would without", async () => {
  const { pool, run, state } = poolScene();
  const running = await run();
  state.isDown = true;
  await seconds(20);
  expect(pool.size).toBe(0);
  state.isDown = false;
  const { started } = state;
  await seconds(5);
  expect(state.started, "not tried again yet").toBe(started);
  await seconds(30);
  expect(pool.size).toBe(1);
  await running.end();
});

it("its end lets nothing stay and makes nothing more", async () => {
  const { pool, sandboxes, run, there, take } = poolScene({ min: 1 });
  await (await run()).end();
  await seconds(2);
  expect(there.size).toBe(1);
  pool.close();
  await sandboxes.close();
  await seconds(60);
  expect([there.size, await take()]).toEqual([0, null]);
});
