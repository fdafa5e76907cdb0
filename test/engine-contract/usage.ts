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
      const before = (await container.stats()).cpuTimeMs;
      expect(before).not.toBeNull();
      const { stdout } = await scene.run(container, fixtureProgram("burns-cpu.py", "2", "1"));
      const [usedSeconds = Number.NaN] = stdout.toString().split(" ").map(Number);
      const after = (await container.stats()).cpuTimeMs;
      // What the kernel counts for the program; what starts it comes on top.
      expect(after).toBeGreaterThan((before ?? 0) + usedSeconds * 900);
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
