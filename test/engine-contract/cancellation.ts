import { expect } from "vitest";
import { failureOf } from "../helpers/failure-of.ts";
import { testRegistryAddress } from "../helpers/test-registry.ts";
import type { Topic } from "./behaviour.ts";
import { givenUpAfter, momentsMs } from "./given-up-after.ts";

/** Work that is cancelled stops and leaves nothing behind. */
export const cancellation: Topic = (behaviour) => {
  behaviour(
    "cancellation.before",
    "a signal that is already aborted stops each call before it begins",
    async (scene) => {
      const { engine } = scene;
      const container = await scene.idle();
      const before = await scene.containers();
      const signal = AbortSignal.abort();
      const calls: Record<string, () => Promise<unknown>> = {
        create: () => engine.create(scene.spec(), { signal }),
        list: () => engine.list(scene.labels, { signal }),
        has: () => engine.images.has(scene.subject.images.minimal, { signal }),
        exec: () => container.exec({ command: ["sh", "-c", "echo ran >/work/ran"] }, { signal }),
        inspect: () => container.inspect({ signal }),
        stats: () => container.stats({ signal }),
        wait: () => container.wait({ signal }),
      };
      for (const call of Object.values(calls)) await failureOf(call(), "CANCELLED");
      expect((await scene.containers()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
      expect(await scene.run(container, ["cat", "/work/ran"])).toMatchObject({ exitCode: 1 });
    },
  );

  behaviour(
    "cancellation.before-start",
    "a start and an attach that are cancelled beforehand leave the container as it was",
    async (scene) => {
      const container = await scene.create({ command: ["true"] });
      const signal = AbortSignal.abort();
      await failureOf(container.attach({ signal }), "CANCELLED");
      await failureOf(container.start({ signal }), "CANCELLED");
      expect(await container.inspect()).toMatchObject({ running: false, exitCode: null });
    },
  );

  behaviour("cancellation.create", "a create leaves no container, whenever it is cancelled", async (scene) => {
    for (const moment of momentsMs) {
      const container = await givenUpAfter(moment, (signal) => scene.engine.create(scene.spec(), { signal }));
      await container?.remove();
      expect(await scene.containers(), `given up after ${moment} ms`).toEqual([]);
    }
  });

  behaviour("cancellation.start", "a cancelled start leaves a container that can be removed", async (scene) => {
    for (const moment of momentsMs) {
      const container = await scene.create();
      await givenUpAfter(moment, (signal) => container.start({ signal }));
      await container.remove();
      expect(await scene.containers(), `given up after ${moment} ms`).toEqual([]);
    }
  });

  behaviour("cancellation.attach", "a cancelled attach leaves a container that can be removed", async (scene) => {
    for (const moment of [0, 1, 5]) {
      const container = await scene.create({ command: ["cat"] });
      const attached = await givenUpAfter(moment, (signal) => container.attach({ signal }));
      attached?.stdin.end();
      attached?.exit.catch(() => undefined);
      await container.remove();
      expect(await scene.containers(), `given up after ${moment} ms`).toEqual([]);
    }
  });

  behaviour(
    "cancellation.pull",
    "a cancelled pull ends at once",
    async (scene) => {
      const reference = `${testRegistryAddress()}/glovebox-test/minimal:1`;
      await scene.subject.removeImage?.(reference);
      await failureOf(
        scene.engine.images.pull(reference, { useCredentials: true, signal: AbortSignal.abort() }),
        "CANCELLED",
      );
      expect(await scene.engine.images.has(reference)).toBe(false);
      await givenUpAfter(0, (signal) => scene.engine.images.pull(reference, { useCredentials: true, signal }));
      await scene.engine.images.pull(reference, { useCredentials: true });
      expect(await scene.engine.images.has(reference), "the next pull is not disturbed").toBe(true);
      await scene.subject.removeImage?.(reference);
    },
    { capability: "images", requirement: "registry" },
  );
};
