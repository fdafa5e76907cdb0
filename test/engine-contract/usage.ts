import { expect } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";

/** What programs use is reported while they run. */
export const usage: Topic = (behaviour) => {
  behaviour(
    "usage.cpu",
    "the CPU time of all programs together is reported, including ended ones",
    async (scene) => {
      const container = await scene.idle({ image: scene.subject.images.python, limits: { cpus: 1 } });
      const told = async (): Promise<number> => (await container.stats()).cpuTimeMs ?? Number.NaN;
      const before = await told();
      const { stdout } = await scene.run(container, fixtureProgram("burns-cpu.py", "2", "1"));
      const [usedSeconds = Number.NaN] = stdout.toString().split(" ").map(Number);
      // The time that the kernel counts for the program; starting it comes on top. A separate kernel counts the time that an
      // idle machine would have given it: there the same is reached after a few more programs, all of which have ended.
      for (let runs = 1; scene.subject.ownKernel === true && runs < 10; runs++) {
        if ((await told()) > before + usedSeconds * 900) break;
        await scene.run(container, fixtureProgram("burns-cpu.py", "2", "1"));
      }
      expect(await told()).toBeGreaterThan(before + usedSeconds * 900);
    },
    { capability: "cpuReporting" },
  );

  behaviour(
    "usage.disk",
    "bytes read and written are a count, or null where the kernel does not count them",
    async (scene) => {
      const { diskReadBytes, diskWriteBytes } = await (await scene.idle()).stats();
      for (const bytes of [diskReadBytes, diskWriteBytes]) {
        expect(bytes === null || (Number.isInteger(bytes) && bytes >= 0), String(bytes)).toBe(true);
      }
    },
  );

  behaviour(
    "usage.scratch",
    "what lies in its folders in memory is counted once, and no longer when it is gone",
    async (scene) => {
      const container = await scene.idle({ scratch: [{ path: "/work", sizeBytes: 16 * mebibyte }] });
      const told = async (): Promise<number> => (await container.stats()).scratchBytes ?? Number.NaN;
      const before = await told();
      expect(before).toBeLessThan(mebibyte);
      await scene.run(container, ["sh", "-c", "head -c 3145728 /dev/zero > /work/zeros"]);
      const added = (await told()) - before;
      expect(added).toBeGreaterThanOrEqual(3 * mebibyte);
      expect(added).toBeLessThan(4 * mebibyte);
      await scene.run(container, ["rm", "/work/zeros"]);
      expect(await told()).toBe(before);
    },
    { capability: "programs" },
  );
};
