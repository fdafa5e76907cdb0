import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";
import { mebibyte } from "../../src/base/bytes.ts";

const floodMebibytes = 200;

/** A slow reader holds a program up; its output is not buffered meanwhile. */
export const backPressure: Topic = (behaviour) => {
  behaviour(
    "back-pressure.slow-reader",
    "a flood waits for its reader, takes no memory, and is complete in the end",
    async (scene) => {
      const container = await scene.idle();
      const process = await container.exec({
        command: fixtureProgram("floods-stdout.sh", String(floodMebibytes), "/work/done"),
      });
      process.stdin.end();
      const before = globalThis.process.memoryUsage().rss;
      let received = 0;
      let grown = 0;
      for await (const { bytes } of process.output) {
        if (received === 0) {
          for (let step = 0; step < 20; step++) {
            await sleep(100);
            grown = Math.max(grown, globalThis.process.memoryUsage().rss - before);
          }
          expect(await scene.run(container, ["cat", "/work/done"]), "the flood is not done").toMatchObject({
            exitCode: 1,
          });
        }
        received += bytes.length;
      }
      expect(received).toBe(floodMebibytes * mebibyte);
      expect(await process.exit).toEqual({ exitCode: 0 });
      expect((await scene.run(container, ["cat", "/work/done"])).exitCode).toBe(0);
      expect(grown).toBeLessThan(64 * mebibyte);
    },
  );

  behaviour(
    "back-pressure.slow-at-the-end",
    "output that waits for a slow reader when its program ends arrives once",
    async (scene) => {
      const container = await scene.idle();
      const lines = Array.from({ length: 60_000 }, (_, line) => `${line}\n`).join("");
      const process = await container.exec({ command: ["sh", "-c", "seq 0 59999"] });
      process.stdin.end();
      const received: Uint8Array[] = [];
      for await (const { bytes } of process.output) {
        if (received.length === 0) await sleep(1_000);
        received.push(bytes);
      }
      // The texts themselves are not compared: their difference would fill the report.
      expect(Buffer.concat(received).length).toBe(lines.length);
      expect(Buffer.concat(received).equals(Buffer.from(lines))).toBe(true);
      expect(await process.exit).toEqual({ exitCode: 0 });
    },
  );

  behaviour("back-pressure.unread-then-removed", "the end is known even if the output is not read", async (scene) => {
    const container = await scene.idle();
    const process = await container.exec({ command: ["sh", "-c", "while :; do echo flood; done"] });
    process.stdin.end();
    const first = await process.output[Symbol.asyncIterator]().next();
    expect(first.done).toBe(false);
    await container.remove();
    const [ending] = await Promise.allSettled([process.exit]);
    expect(ending).toBeDefined();
  });

  behaviour(
    "back-pressure.main-unread-then-killed",
    "the end of a main command is known even if its output is not read",
    async (scene) => {
      const container = await scene.create({ command: ["sh", "-c", "while :; do echo flood; done"] });
      const process = await container.attach();
      await container.start();
      process.stdin.end();
      await container.kill();
      expect(await process.exit).toEqual({ exitCode: 137 });
    },
  );
};
