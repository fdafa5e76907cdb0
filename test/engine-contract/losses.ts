import { expect } from "vitest";
import { GloveboxError } from "../../src/errors/glovebox-error.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";
import type { Scene } from "./scene.ts";

/** Removes the test's containers from outside, without its handles. */
async function removeFromOutside(scene: Scene): Promise<void> {
  const other = await scene.subject.make();
  try {
    const found = await other.list(scene.labels);
    expect(found.map((summary) => summary.running)).toEqual([true]);
    await Promise.all(found.map((summary) => summary.remove()));
  } finally {
    await other.close();
  }
}

function expectKilledOrLost(ending: unknown): void {
  if (ending instanceof GloveboxError) expect(ending.errorType).toBe("SANDBOX_LOST");
  else expect(ending).toEqual({ exitCode: 137 });
}

/** A container that disappeared is not mistaken for a program that failed. */
export const losses: Topic = (behaviour) => {
  behaviour("losses.exec", "an exec in a container that is gone is SANDBOX_LOST", async (scene) => {
    const container = await scene.idle();
    await container.remove();
    await failureOf(scene.run(container, ["true"]), "SANDBOX_LOST");
  });

  behaviour("losses.exec-after-loss", "so is one in a container that was removed from outside", async (scene) => {
    const container = await scene.idle();
    await removeFromOutside(scene);
    await failureOf(scene.run(container, ["true"]), "SANDBOX_LOST");
  });

  behaviour("losses.running-exec", "a program whose container is removed from outside is lost", async (scene) => {
    const container = await scene.idle();
    const running = await scene.exec(container, fixtureProgram("forever.sh"));
    await running.until("stdout", "ready\n");
    await removeFromOutside(scene);
    await failureOf(running.process.exit, "SANDBOX_LOST");
  });

  behaviour(
    "losses.running-exec-own-removal",
    "a program whose container we remove ends, killed or lost",
    async (scene) => {
      const container = await scene.idle();
      const running = await scene.exec(container, fixtureProgram("forever.sh"));
      await running.until("stdout", "ready\n");
      await container.remove();
      const ending = await running.process.exit.catch((error: unknown) => error);
      if (ending instanceof GloveboxError) expect(ending.errorType).toBe("SANDBOX_LOST");
      else expect(ending).toEqual({ exitCode: 137 });
    },
  );

  behaviour("losses.listed-removal", "so does a program whose container is removed from the list", async (scene) => {
    const container = await scene.idle();
    const running = await scene.exec(container, fixtureProgram("forever.sh"));
    await running.until("stdout", "ready\n");
    await Promise.all((await scene.containers()).map((summary) => summary.remove()));
    expectKilledOrLost(await running.process.exit.catch((error: unknown) => error));
    await failureOf(scene.run(container, ["true"]), "SANDBOX_LOST");
  });

  behaviour("losses.unwatched-exec", "the loss of a program that is not awaited does no harm", async (scene) => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", listener);
    try {
      const container = await scene.idle();
      const lost = await container.exec({ command: fixtureProgram("forever.sh") });
      await removeFromOutside(scene);
      for await (const chunk of lost.output) expect(chunk.stream).toBe("stdout");
      await scene.run(await scene.idle(), ["true"]);
    } finally {
      process.off("unhandledRejection", listener);
    }
    expect(unhandled).toEqual([]);
  });

  behaviour(
    "losses.remove",
    "removing and killing a container that was removed from outside resolves",
    async (scene) => {
      const container = await scene.idle();
      await removeFromOutside(scene);
      await container.kill();
      await container.remove();
    },
  );

  behaviour("losses.wait", "a wait ends when the container is removed from outside", async (scene) => {
    const { container, main } = await scene.main(fixtureProgram("forever.sh"));
    await main.until("stdout", "ready\n");
    const waiting = container.wait().catch((error: unknown) => error);
    await removeFromOutside(scene);
    const ending = await waiting;
    if (ending instanceof GloveboxError) expect(ending.errorType).toBe("SANDBOX_LOST");
    else expect(ending).toMatchObject({ running: false });
    await main.process.exit.catch(() => undefined);
  });
};
