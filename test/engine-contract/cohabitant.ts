import { expect } from "vitest";
import type { Container } from "../../src/engines/engine.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";
import { expectNeighboursUnharmed, expectUnharmed, newVictim, settled } from "./hostile-neighbour.ts";
import type { Scene } from "./scene.ts";

const socket = "/work/holder.sock";
/** By then a call beside a program that stops or feeds everything has ended, one way or the other. */
const withinMs = 30_000;
const longer = { timeoutMs: 180_000 } as const;

/** Whatever a program does to the parts of ours that it can reach, others are neither affected nor held up. */
export const cohabitant: Topic = (behaviour) => {
  behaviour(
    "cohabitant.holds",
    "a program keeps everything that it can open beyond its end; it cannot read or change later programs",
    async (scene) => {
      const container = await scene.idle({ image: scene.subject.images.python, limits: { pids: 100 } });
      const holder = await scene.exec(container, fixtureProgram("holds-what-it-is-given.py", socket));
      await holder.until("stdout", "listening\n");
      for (let giver = 0; giver < 3; giver++) await giveAway(scene, container);
      const victims = Array.from({ length: 6 }, newVictim);
      const other = await scene.idle();
      for (const [index, victim] of victims.entries()) {
        const unharmed = expectUnharmed(scene, index % 3 === 0 ? container : other, victim);
        expect(await settled(unharmed, withinMs)).toBe("done");
      }
      const stolen = await endHolder(scene, container);
      expect(victims.filter(({ secret }) => stolen.includes(secret))).toEqual([]);
    },
    longer,
  );

  for (const signal of ["SIGSTOP", "SIGKILL"] as const) {
    behaviour(
      `cohabitant.${signal.toLowerCase()}`,
      `a program that sends ${signal} to everything ends when it is told to, or with its container, and holds up nobody`,
      async (scene) => {
        const container = await scene.idle({ image: scene.subject.images.python });
        const starting = scene.exec(container, fixtureProgram("stops-everything.py", signal));
        const isShared = scene.capabilities.supervisor === "shared";
        if (isShared && (await settled(starting, withinMs)) === "SANDBOX_LOST") {
          // It was quicker than the report of its start: what watches over it is of its own user there.
          await expectNeighboursUnharmed(scene, 3);
          return;
        }
        const hostile = await starting;
        const isUp = await hostile.until("stdout", "up\n").then(
          () => true,
          () => false,
        );
        if (!isUp) {
          // Its children were quicker than its own output, and ended what passes that on.
          expect(isShared).toBe(true);
          expect(await settled(hostile.process.exit, withinMs)).toBe("SANDBOX_LOST");
          await expectNeighboursUnharmed(scene, 3);
          return;
        }
        // It may be stopped for good, like everything of its user; only its start is up to us.
        const beside = scene.exec(container, ["true"]);
        const calls = [beside, container.inspect(), container.stats(), expectNeighboursUnharmed(scene, 3)];
        const [neighbours, ...own] = (await Promise.all(calls.map((call) => settled(call, withinMs)))).toReversed();
        expect(neighbours).toBe("done");
        // Where it may stop what watches over it, its own sandbox can be lost; no call of it hangs, though.
        const allowed = isShared ? ["done", "SANDBOX_LOST"] : ["done"];
        expect(own.filter((end) => !allowed.includes(end))).toEqual([]);
        expect(["done", "SANDBOX_LOST"]).toContain(await settled(hostile.process.kill("SIGTERM"), withinMs));
        const killed = await settled(hostile.process.kill("SIGKILL"), withinMs);
        expect(["done", "SANDBOX_LOST"]).toContain(killed);
        if (killed === "done") await expectUnharmed(scene, container, newVictim());
        expect(await settled(container.remove(), withinMs)).toBe("done");
      },
      longer,
    );
  }

  behaviour(
    "cohabitant.traces",
    "a program that traces everything gets nothing of ours or of other users, and holds nothing up",
    async (scene) => {
      const container = await scene.idle({ image: scene.subject.images.python });
      const hostile = await scene.exec(container, fixtureProgram("traces-everything.py", "3"));
      for (let count = 0; count < 3; count++) await expectUnharmed(scene, container, newVictim());
      await expectNeighboursUnharmed(scene, 3);
      expect((await hostile.finish()).stdout.toString()).toBe("up\n");
    },
    longer,
  );
};

async function giveAway(scene: Scene, container: Container): Promise<void> {
  const giver = await scene.exec(container, fixtureProgram("gives-away-what-it-finds.py", socket));
  // Its output may be read by the holder, which has its streams by then.
  expect(await settled(giver.process.exit, withinMs)).toBe("done");
}

/** What the holder has read from all streams that it holds. */
async function endHolder(scene: Scene, container: Container): Promise<Buffer> {
  const told = 'touch "$1.end"; until cat "$1.told" 2>/dev/null; do sleep 0.1; done';
  const { exitCode, stdout } = await scene.run(container, ["sh", "-c", told, "sh", socket]);
  const [held, stolen = ""] = stdout.toString().trim().split(" ");
  expect({ exitCode, holds: Number(held) > 20 }).toEqual({ exitCode: 0, holds: true });
  return Buffer.from(stolen, "hex");
}
