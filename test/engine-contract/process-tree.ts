import { expect } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import { endLeftBehind, endProcessAlone } from "../../src/sandbox/process-tree.ts";
import type { Topic } from "./behaviour.ts";
import { expectOnlyWatcherLeft, expectParentEnded, heldFifo, killFamily } from "./kill-family.ts";

/** Guarded programs cannot start others. */
const starts = { capability: "programs" } as const;

/** The end of one program in a container that lives on, as sessions and environments need it. */
export const processTree: Topic = (behaviour) => {
  behaviour(
    "process-tree.sigterm",
    "a program and its daemon that ignores signals end, and nothing else",
    async (scene) => {
      const family = await killFamily(scene, fixtureProgram("daemonises.sh", heldFifo));
      const { parent } = family;
      await parent.until("stdout", "ready\n");
      const end = await endProcessAlone({ process: parent.process });
      expect(end).toBe("clean");
      await expectParentEnded(family, 143);
      await expectOnlyWatcherLeft(family);
    },
  );

  behaviour("process-tree.sigkill", "a program that ignores SIGTERM ends by SIGKILL", async (scene) => {
    const family = await killFamily(scene, fixtureProgram("hides.sh", "deaf-to-sigterm", heldFifo));
    const { parent } = family;
    const end = await endProcessAlone({ process: parent.process });
    expect(end).toBe("clean");
    await expectParentEnded(family, 137);
    await expectOnlyWatcherLeft(family);
  });

  behaviour(
    "process-tree.grace",
    "a daemon gets time to end cleanly, even if its program has ended at once",
    async (scene) => {
      const container = await scene.idle();
      const parent = await scene.exec(container, fixtureProgram("leaves-a-tidy-daemon.sh", "/work/file"));
      await parent.until("stdout", "ready\n");
      const end = await endProcessAlone({ process: parent.process });
      expect(end).toBe("clean");
      expect((await scene.run(container, ["cat", "/work/file"])).stdout.toString()).toBe("tidy\n");
    },
    starts,
  );

  behaviour(
    "process-tree.background-grace",
    "so has a daemon of a background process beside other programs",
    async (scene) => {
      const container = await scene.idle();
      const other = await scene.exec(container, ["cat"]);
      const tidy = fixtureProgram("leaves-a-tidy-daemon.sh", "/work/file");
      const parent = await scene.exec(container, tidy);
      await parent.until("stdout", "ready\n");
      const end = await endProcessAlone({ process: parent.process });
      expect(end).toBe("clean");
      expect((await scene.run(container, ["cat", "/work/file"])).stdout.toString()).toBe("tidy\n");
      expect(await other.finish("well\n")).toMatchObject({ exitCode: 0 });
    },
    starts,
  );

  behaviour(
    "process-tree.left-behind",
    "what a program leaves behind when it ends by itself is ended",
    async (scene) => {
      const family = await killFamily(scene, fixtureProgram("ends-before-its-daemon.sh", heldFifo));
      const { process } = family.parent;
      expect(await process.exit).toEqual({ exitCode: 0 });
      expect(await endLeftBehind({ process })).toBe("clean");
      await expectOnlyWatcherLeft(family);
    },
  );

  behaviour(
    "process-tree.beside",
    "one of two programs of the same user is ended, for certain, and the other goes on",
    async (scene) => {
      const container = await scene.idle();
      const [one, other] = await Promise.all([scene.exec(container, ["cat"]), scene.exec(container, ["cat"])]);
      expect(await endProcessAlone({ process: one.process })).toBe("clean");
      expect((await one.finish()).exitCode).not.toBe(0);
      expect(await other.finish()).toMatchObject({ exitCode: 0 });
    },
  );
};
