import { expect } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";

/** Containers are stopped, killed and waited for. */
export const ending: Topic = (behaviour) => {
  behaviour("ending.stop-graceful", "a stop lets the main process end gracefully", async (scene) => {
    const { container, main } = await scene.main(fixtureProgram("traps-sigterm.sh"));
    await main.until("stdout", "ready\n");
    // Far more than needed: only a main process that misses the signal would use it up.
    await container.stop(50_000);
    expect((await main.finish()).stdout.toString()).toBe("ready\nsaw SIGTERM\n");
    expect(await container.wait()).toMatchObject({ running: false, exitCode: 7 });
  });

  behaviour("ending.stop-forced", "a stop ends a main process that ignores it", async (scene) => {
    const { container, main } = await scene.main(fixtureProgram("ignores-sigterm.sh"));
    await main.until("stdout", "ready\n");
    await container.stop(200);
    expect((await main.finish()).exitCode).toBe(137);
    expect(await container.wait()).toMatchObject({ running: false, exitCode: 137 });
  });

  behaviour("ending.stop-idle", "a stop of an idle container ends what runs in it", async (scene) => {
    const container = await scene.idle();
    const running = await scene.exec(container, fixtureProgram("ignores-sigterm.sh"));
    await running.until("stdout", "ready\n");
    await container.stop(200);
    await running.process.exit.catch(() => undefined);
    expect((await scene.containers()).filter((summary) => summary.running)).toEqual([]);
  });

  behaviour("ending.stop-twice", "stopping an ended container resolves", async (scene) => {
    const { container, main } = await scene.main(["true"]);
    await main.finish();
    await container.wait();
    await container.stop(200);
    await container.stop(200);
  });

  behaviour("ending.kill", "a kill ends everything, and a second kill resolves", async (scene) => {
    const { container, main } = await scene.main(fixtureProgram("ignores-sigterm.sh"));
    await main.until("stdout", "ready\n");
    await container.kill();
    expect((await main.finish()).exitCode).toBe(137);
    expect(await container.wait()).toMatchObject({ running: false, exitCode: 137 });
    await container.kill();
  });

  behaviour(
    "ending.kill-idle",
    "a kill of an idle container ends what runs in it, and a second kill resolves",
    async (scene) => {
      const container = await scene.idle();
      const running = await scene.exec(container, fixtureProgram("ignores-sigterm.sh"));
      await running.until("stdout", "ready\n");
      await container.kill();
      await running.process.exit.catch(() => undefined);
      expect((await scene.containers()).filter((summary) => summary.running)).toEqual([]);
      await container.kill();
    },
  );

  behaviour("ending.wait-before-the-end", "a wait from before the end resolves at the end", async (scene) => {
    const { container, main } = await scene.main(fixtureProgram("waits-for-a-line.sh"));
    const waiting = container.wait();
    await main.until("stdout", "first\n");
    await main.finish("on\n");
    expect(await waiting).toMatchObject({ running: false, exitCode: 0 });
  });

  behaviour("ending.wait-after-the-end", "every wait after the end resolves", async (scene) => {
    const { container, main } = await scene.main(["sh", "-c", "exit 5"]);
    await main.finish();
    expect(await container.wait()).toMatchObject({ running: false, exitCode: 5 });
    expect(await container.wait()).toMatchObject({ running: false, exitCode: 5 });
  });

  behaviour("ending.daemon-goes-too", "what the main process leaves behind ends with it", async (scene) => {
    const { container, main } = await scene.main([
      "sh",
      "-c",
      "(trap '' TERM; setsid sleep 1000000 </dev/null >/dev/null 2>&1 &); echo left",
    ]);
    expect((await main.finish()).stdout.toString()).toBe("left\n");
    expect(await container.wait()).toMatchObject({ running: false, exitCode: 0 });
  });
};
