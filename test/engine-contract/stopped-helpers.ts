import { expect } from "vitest";
import { settlesWithin } from "../../src/base/abort.ts";
import { endProcessTree } from "../../src/sandbox/process-tree.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { RunningProcess } from "../helpers/running-process.ts";
import type { Container, Process } from "../../src/engines/engine.ts";
import type { Topic } from "./behaviour.ts";
import type { Scene } from "./scene.ts";

/** Less than a test may take, but more than any engine needs, including its grace times. */
const withinMs = 25_000;
/** Senders wait for each other, and each has its own time limit. */
const sendersMs = 45_000;

const searches = fixtureProgram("searches-helpers.py");

async function startStopper(scene: Scene): Promise<{ container: Container; stopper: RunningProcess }> {
  const container = await scene.idle({ image: scene.subject.images.python });
  const stopper = await scene.exec(container, fixtureProgram("stops-everybody.py"));
  await stopper.until("stdout", "ready\n");
  return { container, stopper };
}

/** @throws TypeError if the process cannot be signalled, since nothing would have been tested */
function signalAlone(process: Process): Promise<void> {
  if (process.signal === undefined) throw new TypeError("it cannot be signalled alone");
  return process.signal("SIGUSR1");
}

/** A program stops every process near it, ours too; its end does not depend on any of them (SPEC SC6). */
export const stoppedHelpers: Topic = (behaviour) => {
  behaviour(
    "stopped-helpers.tree-end",
    "it ends with its container, by SIGTERM and SIGKILL, in time",
    async (scene) => {
      const { container, stopper } = await startStopper(scene);
      const end = endProcessTree(container, stopper.process);
      expect(await settlesWithin(end, withinMs)).toBe(true);
      expect(await settlesWithin(stopper.process.exit, withinMs)).toBe(true);
    },
  );

  behaviour("stopped-helpers.container-stop", "it also ends when its container is told to stop", async (scene) => {
    const { container, stopper } = await startStopper(scene);
    expect(await settlesWithin(container.stop(300), withinMs)).toBe(true);
    expect(await settlesWithin(stopper.process.exit, withinMs)).toBe(true);
  });

  behaviour(
    "stopped-helpers.opened",
    "a program cannot open anything that we send into its sandbox to signal it",
    async (scene) => {
      const container = await scene.idle({ image: scene.subject.images.python });
      const searcher = await scene.exec(container, ["sh", "-c", `trap '' USR1; "$@"`, "sh", ...searches], {});
      await searcher.until("stdout", "ready\n");
      for (let sent = 0; sent < 8; sent++) await signalAlone(searcher.process);
      const { stdout } = await searcher.finish("\n");
      expect(stdout.toString()).toMatch(/^ready\n\d+ nothing\n$/);
    },
    { capability: "execNetwork" },
  );

  behaviour(
    "stopped-helpers.signal",
    "a signal to it is sent or refused in time, and many signals leave nothing that keeps it from ending",
    async (scene) => {
      const { container, stopper } = await startStopper(scene);
      const { process } = stopper;
      const signals = Array.from({ length: 2 }, () => process.signal?.("SIGTERM") ?? Promise.resolve());
      expect(await settlesWithin(Promise.allSettled(signals), sendersMs)).toBe(true);
      expect(await settlesWithin(container.remove(), withinMs)).toBe(true);
      expect(await settlesWithin(process.exit, withinMs)).toBe(true);
    },
    { timeoutMs: 120_000 },
  );
};
