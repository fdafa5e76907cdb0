import { expect } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";

/** CPU time, processes and open files have limits. */
export const limits: Topic = (behaviour) => {
  behaviour(
    "limits.cpu",
    "busy programs together get their share of CPU time",
    async (scene) => {
      const container = await scene.idle({ image: scene.subject.images.python, limits: { cpus: 0.25 } });
      const { stdout } = await scene.run(container, fixtureProgram("burns-cpu.py", "2", "2"));
      const [used = Number.NaN, elapsed = Number.NaN] = stdout.toString().trim().split(" ").map(Number);
      expect(used).toBeGreaterThan(0);
      // A small share, so that a busy machine cannot be mistaken for the limit.
      expect(used / elapsed).toBeLessThan(0.4);
    },
    { capability: "cpuLimit" },
  );

  behaviour(
    "limits.pids",
    "forks are refused at the limit; statistics and removal still work",
    async (scene) => {
      const container = await scene.idle({ image: scene.subject.images.python, limits: { pids: 32 } });
      const running = await scene.exec(container, fixtureProgram("forks-until-refused.py"));
      await running.until("stdout", "\n");
      const [reason, count] = running.text("stdout").trim().split(" ");
      expect(reason).toBe("EAGAIN");
      expect(Number(count)).toBeLessThan(32);
      // The engine's own needs inside leave room for a program's processes.
      expect(Number(count)).toBeGreaterThan(16);
      const { memoryBytes } = await container.stats();
      expect(memoryBytes).toBeGreaterThan(0);
      await container.remove();
      expect(await scene.containers()).toEqual([]);
    },
    { capability: "pidsLimit" },
  );

  behaviour(
    "limits.pids-recover",
    "once the forks have ended, the container works as before",
    async (scene) => {
      const container = await scene.idle({ image: scene.subject.images.python, limits: { pids: 32 } });
      for (const round of ["first", "second"]) {
        const { exitCode, stdout } = await scene.run(container, fixtureProgram("forks-until-refused.py"));
        expect(exitCode, round).toBe(0);
        expect(stdout.toString(), round).toContain("EAGAIN");
      }
    },
    { capability: "pidsLimit" },
  );

  behaviour("limits.open-files", "a process can have as many open files as its limit", async (scene) => {
    const container = await scene.idle({ limits: { openFiles: 128 } });
    expect((await scene.run(container, ["sh", "-c", "ulimit -n; ulimit -Hn"])).stdout.toString()).toBe("128\n128\n");
  });

  behaviour("limits.open-files-default", "the default limit is 16384", async (scene) => {
    const container = await scene.idle();
    expect((await scene.run(container, ["sh", "-c", "ulimit -Hn"])).stdout.toString()).toBe("16384\n");
  });

  behaviour("limits.no-core-files", "a program that crashes leaves no core file", async (scene) => {
    const container = await scene.idle();
    expect((await scene.run(container, ["sh", "-c", "ulimit -c"])).stdout.toString()).toBe("0\n");
  });
};
