import { expect } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import { RunningProcess } from "../helpers/running-process.ts";
import { outcomeOf } from "../helpers/outcome-of.ts";
import type { Topic } from "./behaviour.ts";
import { givenUpAfter, momentsMs } from "./given-up-after.ts";

/** A cancelled exec ends; once an exec has begun, its caller's signal no longer affects it. */
export const execCancellation: Topic = (behaviour) => {
  behaviour(
    "cancellation.exec",
    "a cancelled exec leaves no program behind, and the container goes on",
    async (scene) => {
      for (const moment of momentsMs) {
        const container = await scene.idle();
        const reader = await scene.exec(container, fixtureProgram("reads-fifo.sh", "/work/alive"));
        await reader.until("stdout", "listening\n");
        // A process that holds the FIFO open keeps its reader from ending.
        const command = ["sh", "-c", "exec 3>/work/alive; echo up >&3; exec sleep 1000000"];
        const process = await givenUpAfter(moment, (signal) => container.exec({ command }, { signal }));
        // It waits for a reader, which has ended already if the given up program came as far as to open the FIFO.
        const opened =
          process === null ? outcomeOf(scene.run(container, ["sh", "-c", ": >/work/alive"])) : Promise.resolve();
        if (process === null) {
          const { exitCode, stdout } = await reader.finish();
          expect({ moment, exitCode }).toEqual({ moment, exitCode: 0 });
          expect(stdout.toString()).toContain("all gone\n");
        }
        await container.remove();
        await opened;
      }
    },
  );

  behaviour(
    "cancellation.after-exec",
    "a signal that is aborted after an exec has begun does not affect it",
    async (scene) => {
      const container = await scene.idle();
      const controller = new AbortController();
      const running = new RunningProcess(
        await container.exec({ command: fixtureProgram("waits-for-a-line.sh") }, { signal: controller.signal }),
      );
      controller.abort();
      expect((await running.finish("on\n")).stdout.toString()).toBe("first\nthen on\n");
    },
  );

  behaviour("cancellation.wait", "a cancelled wait leaves the container running", async (scene) => {
    const { container, main } = await scene.main(fixtureProgram("waits-for-a-line.sh"));
    await main.until("stdout", "first\n");
    expect(await givenUpAfter(20, (signal) => container.wait({ signal }))).toBeNull();
    expect(await container.inspect()).toMatchObject({ running: true });
    expect(await main.finish("on\n")).toMatchObject({ exitCode: 0 });
  });
};
