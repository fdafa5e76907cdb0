import { expect } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";

/** Only what was made writable can be written. */
export const filesystem: Topic = (behaviour) => {
  behaviour(
    "filesystem.read-only-root",
    "programs cannot write outside scratch",
    async (scene) => {
      const container = await scene.idle();
      const { stdout } = await scene.run(
        container,
        fixtureProgram("writes-into.sh", "/", "/usr", "/etc", "/dev", "/work", "/tmp"),
      );
      expect(stdout.toString().trim().split("\n")).toEqual([
        "refused /",
        "refused /usr",
        "refused /etc",
        "refused /dev",
        "written /work",
        "written /tmp",
      ]);
    },
    { capability: "readOnlyRoot" },
  );

  behaviour(
    "filesystem.read-only-for-root",
    "root inside, which owns those folders, cannot either",
    async (scene) => {
      const container = await scene.idle();
      const { stdout } = await scene.run(container, fixtureProgram("writes-into.sh", "/", "/usr", "/etc", "/work"), {
        user: "0:0",
      });
      expect(stdout.toString().trim().split("\n")).toEqual([
        "refused /",
        "refused /usr",
        "refused /etc",
        "written /work",
      ]);
    },
    { capability: "execUser" },
  );

  behaviour(
    "filesystem.writable-mounts",
    "of everything that is mounted, programs can write only to scratch and shared memory",
    async (scene) => {
      const container = await scene.idle();
      const mounted = await scene.run(container, ["cut", "-d ", "-f5", "/proc/self/mountinfo"]);
      const folders = mounted.stdout.toString().trim().split("\n");
      const { stdout } = await scene.run(container, fixtureProgram("writes-into.sh", ...folders));
      const written = stdout
        .toString()
        .trim()
        .split("\n")
        .filter((line) => line.startsWith("written"));
      // Message queues have a separate limit in the kernel.
      expect(written.filter((line) => line !== "written /dev/mqueue").toSorted()).toEqual([
        "written /dev/shm",
        "written /tmp",
        "written /work",
      ]);
    },
  );

  behaviour("filesystem.no-scratch", "without scratch there is nothing to write to", async (scene) => {
    const container = await scene.idle({ scratch: [], workingDirectory: "/" });
    const { stdout } = await scene.run(container, fixtureProgram("writes-into.sh", "/", "/tmp", "/var/tmp", "/run"));
    expect(stdout.toString()).not.toContain("written");
  });
};
