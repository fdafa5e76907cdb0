import { expect } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";

/** What programs use is told while they run. */
export const usage: Topic = (behaviour) => {
  behaviour(
    "usage.cpu",
    "the CPU time of all programs together is told, that of programs which have ended included",
    async (scene) => {
      const container = await scene.idle({ image: scene.subject.images.python, limits: { cpus: 1 } });
      const told = async (): Promise<number> => (await container.stats()).cpuTimeMs ?? Number.NaN;
      const before = await told();
      const { stdout } = await scene.run(container, fixtureProgram("burns-cpu.py", "2", "1"));
      const [usedSeconds = Number.NaN] = stdout.toString().split(" ").map(Number);
      // What the kernel counts for the program; what starts it comes on top. A kernel of its own counts what it would have
      // had of a machine without other work: there the same is reached after some more programs, all of them ended.
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
};
