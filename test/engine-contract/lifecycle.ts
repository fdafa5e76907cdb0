import { expect } from "vitest";
import { failureOf } from "../helpers/failure-of.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";

/** Containers are created, run and end. */
export const lifecycle: Topic = (behaviour) => {
  behaviour("lifecycle.probe", "the probe reports the version and the engine's capabilities", async ({ engine }) => {
    const probe = await engine.probe();
    if (!probe.available) throw new Error(probe.reason);
    expect(probe.version).toMatch(/\d/);
    expect(probe.capabilities).toEqual(await engine.capabilities());
  });

  behaviour("lifecycle.own-command", "a main command returns its output and its exit code", async (scene) => {
    const { container, main } = await scene.main(["sh", "-c", "echo out; echo err >&2; exit 3"]);
    const finished = await main.finish();
    expect(finished.exitCode).toBe(3);
    expect(finished.stdout.toString()).toBe("out\n");
    expect(finished.stderr.toString()).toBe("err\n");
    expect(await container.wait()).toMatchObject({ running: false, exitCode: 3 });
  });

  behaviour("lifecycle.own-command-input", "a main command reads its input to the end", async (scene) => {
    const { main } = await scene.main(fixtureProgram("answers-after-eof.sh"));
    const finished = await main.finish("some input\n");
    expect(finished.stdout.toString()).toBe("some input\nend of input\n");
  });

  behaviour("lifecycle.states", "the state follows the container from created over running to ended", async (scene) => {
    const container = await scene.create({ command: fixtureProgram("waits-for-a-line.sh") });
    expect(await container.inspect()).toMatchObject({ running: false, exitCode: null });
    const main = await container.attach();
    await container.start();
    expect(await container.inspect()).toMatchObject({ running: true, exitCode: null });
    main.stdin.end("on\n");
    expect(await container.wait()).toMatchObject({ running: false, exitCode: 0 });
    expect(await container.inspect()).toMatchObject({ running: false, exitCode: 0 });
  });

  behaviour("lifecycle.alive", "a container is alive from its start to its end, whoever ends it", async (scene) => {
    const container = await scene.idle();
    expect(await container.isAlive()).toBe(true);
    await container.kill();
    expect(await container.isAlive()).toBe(false);
  });

  behaviour(
    "lifecycle.idle",
    "a container without a command stays up, runs programs and is gone when it is removed",
    async (scene) => {
      const container = await scene.idle();
      expect((await scene.run(container, ["echo", "one"])).stdout.toString()).toBe("one\n");
      expect(await container.inspect()).toMatchObject({ running: true, exitCode: null });
      expect((await scene.run(container, ["echo", "two"])).stdout.toString()).toBe("two\n");
      await container.remove();
      expect(await scene.containers()).toEqual([]);
    },
  );

  behaviour(
    "lifecycle.idle-attach",
    "there is nothing to attach to in a container without a command",
    async (scene) => {
      const container = await scene.create();
      await failureOf(container.attach(), "UNSUPPORTED");
    },
  );

  behaviour(
    "lifecycle.remove",
    "removing a running container, one that was never started and one that is gone all succeed",
    async (scene) => {
      const running = await scene.idle();
      const created = await scene.create();
      await Promise.all([running.remove(), created.remove()]);
      expect(await scene.containers()).toEqual([]);
      await Promise.all([running.remove(), created.remove()]);
    },
  );

  behaviour("lifecycle.remove-at-once", "simultaneous removals all succeed", async (scene) => {
    const container = await scene.idle();
    await Promise.all([container.remove(), container.remove(), container.remove()]);
    expect(await scene.containers()).toEqual([]);
  });
};
