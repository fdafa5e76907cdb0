import { expect } from "vitest";
import { labels } from "../../src/engines/labels.ts";
import { createId } from "../../src/base/id.ts";
import type { Topic } from "./behaviour.ts";

/** Containers are found by their labels, and removed from the list. */
export const listing: Topic = (behaviour) => {
  behaviour(
    "listing.states",
    "containers are listed by label, with name, state, labels and time of creation",
    async (scene) => {
      const before = Date.now();
      const [name, other] = [createId("glovebox-contract"), createId("glovebox-contract")];
      const created = await scene.create({ name });
      const running = await scene.idle({ name: other });
      const found = await scene.containers();
      expect(found.map(({ id, name: called, running: up }) => ({ id, called, up }))).toEqual(
        expect.arrayContaining([
          { id: created.id, called: name, up: false },
          { id: running.id, called: other, up: true },
        ]),
      );
      expect(found).toHaveLength(2);
      for (const summary of found) {
        expect(summary.labels).toMatchObject(scene.labels);
        // Engines report whole seconds.
        expect(summary.createdAtMs).toBeGreaterThanOrEqual(before - 1_000);
        expect(summary.createdAtMs).toBeLessThanOrEqual(Date.now() + 1_000);
      }
    },
  );

  behaviour("listing.ended", "a container that has ended by itself is not listed as running", async (scene) => {
    const { container, main } = await scene.main(["true"]);
    await main.finish();
    await container.wait();
    expect((await scene.containers()).filter((summary) => summary.running)).toEqual([]);
  });

  behaviour(
    "listing.all-labels",
    "a container must have each of the labels, with the requested value",
    async (scene) => {
      const sandbox = createId("scene");
      const owner = { [labels.owner]: createId("contract-listing") };
      const other = await scene.create({ labels: { ...scene.labels, ...owner, [labels.sandbox]: sandbox } });
      const mine = await scene.create({ labels: { ...scene.labels, ...owner } });
      const idsOf = async (wanted: Readonly<Record<string, string>>): Promise<readonly string[]> =>
        (await scene.engine.list(wanted)).map(({ id }) => id).toSorted();
      expect(await idsOf(owner)).toEqual([other.id, mine.id].toSorted());
      expect(await idsOf({ ...owner, [labels.sandbox]: sandbox })).toEqual([other.id]);
      expect(await idsOf({ ...owner, [labels.kind]: "no-such-kind" })).toEqual([]);
      expect(await idsOf({ [labels.owner]: createId("nobody") })).toEqual([]);
    },
  );

  behaviour("listing.odd-labels", "labels keep values with odd characters", async (scene) => {
    const value = `a=b "c" ü, \\ ${createId("odd")}`;
    const container = await scene.create({ labels: { ...scene.labels, [labels.writablePaths]: value } });
    const found = await scene.engine.list({ ...scene.labels, [labels.writablePaths]: value });
    expect(found.map(({ id }) => id)).toEqual([container.id]);
    expect(found[0]?.labels[labels.writablePaths]).toBe(value);
  });

  behaviour("listing.remove", "listed containers can be removed through the list, more than once", async (scene) => {
    await scene.idle();
    await scene.create();
    const found = await scene.containers();
    await Promise.all(found.map((summary) => summary.remove()));
    expect(await scene.containers()).toEqual([]);
    await Promise.all(found.map((summary) => summary.remove()));
  });

  behaviour("listing.other-adapter", "another adapter to the same engine sees the same containers", async (scene) => {
    const container = await scene.idle();
    const other = await scene.subject.make();
    try {
      expect((await other.list(scene.labels)).map(({ id, running }) => ({ id, running }))).toEqual([
        { id: container.id, running: true },
      ]);
    } finally {
      await other.close();
    }
    expect(await scene.run(container, ["true"]), "its end leaves them alone").toMatchObject({ exitCode: 0 });
  });
};
