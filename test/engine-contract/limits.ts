import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import { GloveboxError } from "../../src/errors/glovebox-error.ts";
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

  behaviour(
    "limits.sockets",
    "buffers of sockets are limited, too, also where they are counted apart from memory",
    async (scene) => {
      const container = await scene.idle({
        image: scene.subject.images.python,
        limits: { memoryBytes: 128 * mebibyte },
      });
      // Another kernel takes them from the whole sandbox's memory, and ends with it.
      const said = await scene.run(container, fixtureProgram("fills-sockets.py", "192")).then(
        ({ stdout, stderr }) => `${stdout.toString()}${stderr.toString()}`,
        (error: unknown) => (error instanceof GloveboxError ? error.errorType : String(error)),
      );
      const held = Number(
        /^held (\d+) MB\n$/.exec(said)?.[1] ?? (["SANDBOX_LOST", "OOM_KILLED"].includes(said) ? 0 : Number.NaN),
      );
      expect(held, said).toBeLessThan(192);
    },
  );

  behaviour(
    "limits.netlink",
    "a program that opens thousands of netlink sockets, whose queues no group counts, is soon ended",
    async (scene) => {
      const container = await scene.idle({ image: scene.subject.images.python });
      const opening = await scene.exec(container, fixtureProgram("opens-netlink-sockets.py", "3000"));
      await opening.until("stdout", "\n");
      const said = await Promise.race([
        opening.finish().then(
          () => "ended",
          () => "ended",
        ),
        sleep(15_000, "still there", { ref: false }),
      ]);
      expect(said, opening.text("stdout")).toBe("ended");
    },
  );

  behaviour("limits.open-files", "a process can have as many open files as its limit", async (scene) => {
    const container = await scene.idle({ limits: { openFiles: 128 } });
    expect((await scene.run(container, ["sh", "-c", "ulimit -n; ulimit -Hn"])).stdout.toString()).toBe("128\n128\n");
  });

  behaviour("limits.open-files-default", "the default limit is 4096", async (scene) => {
    const container = await scene.idle();
    expect((await scene.run(container, ["sh", "-c", "ulimit -Hn"])).stdout.toString()).toBe("4096\n");
  });

  behaviour("limits.no-core-files", "a program that crashes leaves no core file", async (scene) => {
    const container = await scene.idle();
    expect((await scene.run(container, ["sh", "-c", "ulimit -c"])).stdout.toString()).toBe("0\n");
  });
};
