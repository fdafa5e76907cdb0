import { expect } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";
import { expectOnlyWatcherLeft, heldFifo, killFamily } from "./kill-family.ts";

/** Kills at the wrong moment, repeated kills, kills of root's programs, and kills that cannot be exact. */
export const exactKillEdges: Topic = (behaviour) => {
  behaviour("exact-kill.ended", "killing an ended program resolves", async (scene) => {
    const { process } = await scene.exec(await scene.idle(), ["true"]);
    expect(await process.exit).toEqual({ exitCode: 0 });
    await process.kill("SIGTERM");
    await process.kill("SIGKILL");
  });

  behaviour("exact-kill.container-gone", "so does killing a program that ended with its container", async (scene) => {
    const container = await scene.idle();
    const { process } = await scene.exec(container, fixtureProgram("forever.sh"));
    await container.remove();
    await process.kill("SIGTERM");
    await process.kill("SIGKILL");
  });

  behaviour(
    "exact-kill.at-once",
    "a program can be killed as soon as it has started, and by two kills at the same time",
    async (scene) => {
      const container = await scene.idle();
      const { process } = await scene.exec(container, fixtureProgram("forever.sh"));
      await Promise.all([process.kill("SIGKILL"), process.kill("SIGKILL")]);
      expect(await process.exit).toEqual({ exitCode: 137 });
      expect(await scene.run(container, ["true"])).toMatchObject({ exitCode: 0 });
    },
  );

  behaviour(
    "exact-kill.unread",
    "a program whose output is not read can be killed, and its earlier output is still there",
    async (scene) => {
      const container = await scene.idle();
      const process = await container.exec({ command: fixtureProgram("floods-stdout.sh", "64", "/work/done") });
      await process.kill("SIGKILL");
      expect(await process.exit).toEqual({ exitCode: 137 });
      let bytes = 0;
      for await (const chunk of process.output) bytes += chunk.bytes.length;
      expect(bytes).toBeLessThan(64 * 1024 * 1024);
      expect(await scene.run(container, ["test", "-e", "/work/done"])).toMatchObject({ exitCode: 1 });
    },
  );

  behaviour("exact-kill.files", "files that a killed program has written are kept", async (scene) => {
    const container = await scene.idle();
    const running = await scene.exec(container, ["sh", "-c", "echo kept >/work/file; echo ready; exec sleep 1000000"]);
    await running.until("stdout", "ready\n");
    await running.process.kill("SIGKILL");
    expect((await scene.run(container, ["cat", "/work/file"])).stdout.toString()).toBe("kept\n");
  });

  behaviour(
    "exact-kill.left-behind",
    "a kill of a program that ended by itself ends what it left behind",
    async (scene) => {
      const family = await killFamily(scene, fixtureProgram("ends-before-its-daemon.sh", heldFifo));
      expect(await family.parent.process.exit).toEqual({ exitCode: 0 });
      await family.parent.process.kill("SIGKILL");
      await expectOnlyWatcherLeft(family);
    },
  );

  behaviour(
    "exact-kill.root",
    "a program of the container's own user is killed, and the container goes on",
    async (scene) => {
      const user = { user: "0:0" };
      const family = await killFamily(scene, fixtureProgram("daemonises.sh", heldFifo), {
        parent: user,
        watcher: user,
      });
      await family.parent.process.kill("SIGKILL");
      await expectOnlyWatcherLeft(family);
      expect(await scene.run(family.container, ["true"])).toMatchObject({ exitCode: 0 });
    },
    { capability: "execUser" },
  );

  behaviour(
    "exact-kill.beside",
    "beside a program of its user that was started in the same way, it is ended alone",
    async (scene) => {
      const container = await scene.idle();
      const [one, other] = await Promise.all([1, 2].map(() => scene.exec(container, ["cat"])));
      await one!.process.kill("SIGKILL");
      expect(await one!.finish()).toMatchObject({ exitCode: 137 });
      expect(await other!.finish("other\n")).toMatchObject({ exitCode: 0, stdout: Buffer.from("other\n") });
    },
  );
};
