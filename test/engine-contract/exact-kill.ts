import { expect } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";
import {
  expectOnlyWatcherLeft,
  expectParentEnded,
  heldFifo,
  killFamily,
  killParent,
  type KillFamilyOptions,
} from "./kill-family.ts";
import type { Scene } from "./scene.ts";

/** What programs do to hide what they leave behind. */
const tricks = {
  session: ["a session of its own", fixtureProgram("hides.sh", "in-a-session", heldFifo)],
  orphan: ["a double fork", fixtureProgram("hides.sh", "as-an-orphan", heldFifo)],
  daemon: ["a double fork and a session of its own", fixtureProgram("hides.sh", "as-a-daemon", heldFifo)],
  deaf: ["SIGTERM ignored", fixtureProgram("hides.sh", "deaf-to-sigterm", heldFifo)],
  "no-environment": ["an empty environment besides", fixtureProgram("hides.sh", "without-environment", heldFifo)],
  "closed-memory": ["memory closed to others", fixtureProgram("hides-its-memory.py", heldFifo)],
  "runs-away": ["a new process at every moment", fixtureProgram("runs-away.py", heldFifo)],
  "runs-away-together": [
    "a new process at every moment in one process group",
    fixtureProgram("runs-away-together.py", heldFifo),
  ],
  "looks-ended": ["a first thread that has ended, or a name that says so", fixtureProgram("looks-ended.py", heldFifo)],
  "threads-run-away": [
    "a new process at every moment whose first thread has ended",
    fixtureProgram("runs-away-in-threads.py", heldFifo),
  ],
  "pids-full": ["no process left for anybody", fixtureProgram("forks-until-refused.py", heldFifo)],
} as const;

function containerOf(scene: Scene): KillFamilyOptions {
  return { container: { image: scene.subject.images.python, limits: { pids: 32 } } };
}

/** Killing one program ends everything that it started and nothing else, whatever it does to get away. */
export const exactKill: Topic = (behaviour) => {
  for (const [name, [what, command]] of Object.entries(tricks)) {
    behaviour(
      `exact-kill.${name}`,
      `${what} saves nothing from SIGKILL; another program of the same user goes on`,
      async (scene) => {
        const family = await killFamily(scene, command, containerOf(scene));
        await killParent(family);
        await expectParentEnded(family, 137);
        await expectOnlyWatcherLeft(family);
        expect(await scene.run(family.container, ["echo", "well"])).toMatchObject({ exitCode: 0 });
      },
    );
  }

  for (const name of ["no-environment", "runs-away", "pids-full"] as const) {
    behaviour(
      `exact-kill.other-user-${name}`,
      `${tricks[name][0]}: nor when the other program is another user's`,
      async (scene) => {
        const options = { ...containerOf(scene), watcher: { user: "2000:2000" } };
        const family = await killFamily(scene, tricks[name][1], options);
        await killParent(family);
        await expectParentEnded(family, 137);
        await expectOnlyWatcherLeft(family);
      },
      { capability: "execUser" },
    );
  }

  behaviour(
    "exact-kill.left-looking-ended",
    "what a program leaves behind ends although it looks as if it had, and no program of its user is near",
    async (scene) => {
      const options = { ...containerOf(scene), watcher: { user: "2000:2000" } };
      const family = await killFamily(scene, fixtureProgram("looks-ended.py", heldFifo, "alone"), options);
      expect(await family.parent.process.exit).toEqual({ exitCode: 0 });
      await killParent(family);
      await expectOnlyWatcherLeft(family);
    },
    { capability: "execUser" },
  );

  behaviour(
    "exact-kill.sigterm",
    "SIGTERM reaches a program; what ignores it ends by SIGKILL at the latest, even if the program itself has ended",
    async (scene) => {
      const family = await killFamily(scene, fixtureProgram("daemonises.sh", heldFifo));
      await family.parent.until("stdout", "ready\n");
      await family.parent.process.kill("SIGTERM");
      await expectParentEnded(family, 143);
      await killParent(family);
      await expectOnlyWatcherLeft(family);
    },
  );

  behaviour("exact-kill.sigterm-trapped", "a program that traps SIGTERM ends in its own way", async (scene) => {
    const container = await scene.idle();
    const running = await scene.exec(container, fixtureProgram("traps-sigterm.sh"));
    await running.until("stdout", "ready\n");
    await running.process.kill("SIGTERM");
    const { exitCode, stdout } = await running.finish();
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 7, stdout: "ready\nsaw SIGTERM\n" });
  });

  behaviour("exact-kill.spares-daemons", "a kill spares what other programs have left behind", async (scene) => {
    const container = await scene.idle();
    const keeper = await scene.exec(container, fixtureProgram("keeps-a-daemon.sh", "/work/question"));
    const victim = await scene.exec(container, fixtureProgram("forever.sh"));
    await Promise.all([keeper.until("stdout", "ready\n"), victim.until("stdout", "ready\n")]);
    await victim.process.kill("SIGTERM");
    expect(await victim.process.exit).toEqual({ exitCode: 143 });
    await victim.process.kill("SIGKILL");
    await scene.run(container, ["sh", "-c", "echo hello >/work/question"]);
    await keeper.until("stdout", "daemon: hello\n");
    expect((await keeper.finish("and mine\n")).stdout.toString()).toBe("ready\ndaemon: hello\nand mine\n");
  });
};
