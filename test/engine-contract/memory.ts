import { expect } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";
import type { Scene } from "./scene.ts";
import { mebibyte } from "../../src/base/bytes.ts";

/** A small limit in MiB that the engine accepts. */
function small({ subject }: Scene): number {
  return subject.smallMemoryMb ?? 64;
}

/** Memory has a limit, and it is known which program exceeded it. */
export const memory: Topic = (behaviour) => {
  behaviour(
    "memory.exec",
    "a program beyond the limit is killed, and the kill is counted",
    async (scene) => {
      const container = await scene.idle({
        image: scene.subject.images.python,
        limits: { memoryBytes: small(scene) * mebibyte },
      });
      expect(await container.stats()).toMatchObject({ oomKills: 0 });
      expect(await scene.run(container, fixtureProgram("allocates.py", String(4 * small(scene))))).toMatchObject({
        exitCode: 137,
      });
      expect((await container.stats()).oomKills).toBeGreaterThan(0);
      expect(await scene.run(container, ["true"]), "the container goes on").toMatchObject({ exitCode: 0 });
    },
    { capability: "oomReporting" },
  );

  behaviour(
    "memory.within",
    "a program within the limit is left alone",
    async (scene) => {
      const container = await scene.idle({
        image: scene.subject.images.python,
        limits: { memoryBytes: 2 * small(scene) * mebibyte },
      });
      expect(await scene.run(container, fixtureProgram("allocates.py", String(small(scene))))).toMatchObject({
        exitCode: 0,
      });
      expect(await container.stats()).toMatchObject({ oomKills: 0 });
    },
    { capability: "oomReporting" },
  );

  behaviour(
    "memory.together",
    "the limit holds for all programs together",
    async (scene) => {
      const container = await scene.idle({
        image: scene.subject.images.python,
        limits: { memoryBytes: small(scene) * mebibyte },
      });
      const programs = await Promise.all(
        [1, 2].map(() => scene.exec(container, fixtureProgram("allocates.py", String((small(scene) * 5) / 8)))),
      );
      // The program that got its memory keeps it until the other has ended.
      const ends = programs.map((program) => program.process.exit.then(({ exitCode }) => exitCode));
      expect(await Promise.race(ends)).toBe(137);
      await Promise.all(programs.map((program) => program.finish()));
    },
    { capability: "memoryLimit" },
  );

  behaviour(
    "memory.child",
    "a killed child is counted even if its parent succeeds",
    async (scene) => {
      const container = await scene.idle({
        image: scene.subject.images.python,
        limits: { memoryBytes: small(scene) * mebibyte },
      });
      const { exitCode, stdout } = await scene.run(
        container,
        fixtureProgram("outlives-a-greedy-child.py", String(4 * small(scene))),
      );
      expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: "child ended -9\n" });
      expect((await container.stats()).oomKills).toBeGreaterThan(0);
    },
    { capability: "oomReporting" },
  );

  behaviour(
    "memory.not-oom",
    "a program that kills itself did not run out of memory",
    async (scene) => {
      const container = await scene.idle();
      expect(await scene.run(container, fixtureProgram("ends-by-signal.sh", "KILL"))).toMatchObject({ exitCode: 137 });
      expect(await container.stats()).toMatchObject({ oomKills: 0 });
    },
    { capability: "oomReporting" },
  );

  behaviour(
    "memory.main",
    "a main process beyond the limit is known to have run out of memory",
    async (scene) => {
      const changes = { image: scene.subject.images.python, limits: { memoryBytes: small(scene) * mebibyte } };
      const { container, main } = await scene.main(fixtureProgram("allocates.py", String(4 * small(scene))), changes);
      expect(await main.finish()).toMatchObject({ exitCode: 137 });
      expect(await container.wait()).toEqual({ running: false, exitCode: 137, oomKilled: true });
      expect(await container.inspect()).toEqual({ running: false, exitCode: 137, oomKilled: true });
    },
    { capability: "oomReporting" },
  );

  behaviour(
    "memory.main-not-oom",
    "a main process that kills itself did not run out of memory",
    async (scene) => {
      const { container, main } = await scene.main(fixtureProgram("ends-by-signal.sh", "KILL"));
      expect(await main.finish()).toMatchObject({ exitCode: 137 });
      expect(await container.wait()).toEqual({ running: false, exitCode: 137, oomKilled: false });
    },
    { capability: "oomReporting" },
  );

  behaviour(
    "memory.use",
    "memory use and its peak are reported, the peak also afterwards",
    async (scene) => {
      const container = await scene.idle({ image: scene.subject.images.python });
      const running = await scene.exec(container, fixtureProgram("allocates.py", "64"));
      await running.until("stdout", "allocated\n");
      const during = await container.stats();
      expect(during.memoryBytes).toBeGreaterThanOrEqual(64 * mebibyte);
      expect(during.memoryPeakBytes).toBeGreaterThanOrEqual(64 * mebibyte);
      await running.finish();
      const after = await container.stats();
      expect(after.memoryPeakBytes).toBeGreaterThanOrEqual(64 * mebibyte);
      expect(after.memoryBytes).toBeLessThan(64 * mebibyte);
    },
    { capability: "memoryLimit" },
  );
};
