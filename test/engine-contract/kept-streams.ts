import { expect } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";
import type { Scene } from "./scene.ts";

const socketPath = "/work/keeper";
/** Guarded programs cannot pass descriptors on. */
const anyProgram = { capability: "programs" } as const;
const victims = 12;
/** Far more than a pipe holds, far less than what is written in a second. */
const maxLateBytes = 32 * mebibyte;

/** A program keeps the streams of one that has ended, opened as `how`; what later programs send and receive is compared. */
async function keepAndRunOthers(scene: Scene, how: "both-ways" | "by-name-only"): Promise<void> {
  const image = scene.subject.images.python;
  const attacker = await scene.idle({ image });
  const keeper = await scene.exec(attacker, fixtureProgram("keeps-descriptors.py", socketPath));
  await keeper.until("stdout", "listening\n");
  const giver = await scene.exec(attacker, fixtureProgram("gives-its-streams-away.py", socketPath, how));
  expect(await giver.finish("own\n")).toMatchObject({ exitCode: 0 });

  const neighbour = await scene.idle();
  const others = Array.from({ length: victims }, (_, index) => (index % 2 === 0 ? neighbour : attacker));
  for (const [index, container] of others.entries()) {
    const secret = `secret ${index}\n`;
    const running = await scene.exec(container, ["sh", "-c", "cat; sleep 0.05; echo done; echo fine >&2"]);
    const { exitCode, stdout, stderr } = await running.finish(secret);
    expect({ exitCode, stdout: stdout.toString(), stderr: stderr.toString() }).toEqual({
      exitCode: 0,
      stdout: `${secret}done\n`,
      stderr: "fine\n",
    });
  }
  expect((await keeper.finish("\n")).stdout.toString()).toBe("listening\n3 \n");
}

/** A program's streams that others still hold after its end lead nowhere (SPEC SC6). */
export const keptStreams: Topic = (behaviour) => {
  behaviour(
    "kept-streams.open",
    "streams that a program reopened and passed on cannot read or change anything of later programs",
    (scene) => keepAndRunOthers(scene, "both-ways"),
    anyProgram,
  );

  behaviour(
    "kept-streams.names",
    "nor can descriptors that only name its streams",
    (scene) => keepAndRunOthers(scene, "by-name-only"),
    anyProgram,
  );

  behaviour(
    "kept-streams.written-for-ever",
    "a program ends even if another one goes on writing to its output",
    async (scene) => {
      const container = await scene.idle({ image: scene.subject.images.python });
      const keeper = await scene.exec(container, fixtureProgram("keeps-descriptors.py", socketPath, "flood"), {});
      await keeper.until("stdout", "listening\n");
      const giver = await scene.exec(
        container,
        fixtureProgram("gives-its-streams-away.py", socketPath, "both-ways", "says-so"),
      );
      const { exitCode, stdout } = await giver.finish();
      expect(exitCode).toBe(0);
      expect(stdout.length - stdout.indexOf("END\n")).toBeLessThan(maxLateBytes);
    },
    anyProgram,
  );
};
