import { describe, expect, it } from "vitest";
import { failureOf } from "../../../../test/helpers/failure-of.ts";
import { supervisedScene, type StandInContainer } from "../../../../test/helpers/supervised-scene.ts";
import type { SupervisorStandIn } from "../../../../test/helpers/supervisor-stand-in.ts";

const missing = { reason: 1, stage: 11, error: 2 };
const denied = { reason: 1, stage: 12, error: 13 };
const done = { reason: 0 };

async function standInOf(place: StandInContainer): Promise<SupervisorStandIn> {
  while (place.standIn === undefined) await new Promise((resolve) => setImmediate(resolve));
  return place.standIn;
}

describe("folders that are open to every user", () => {
  it("are opened by a helper as root before the container has started", async () => {
    const { container, place } = supervisedScene();
    place.openFolders = ["/work", "/tmp"];
    const starting = container.start();
    const standIn = await standInOf(place);
    for (const [index, folder] of ["/work", "/tmp"].entries()) {
      const { fields, stream } = await standIn.next("FILE", index + 1);
      expect(fields).toMatchObject({ verb: 8, user: 0, group: 0, mode: 0o1777 });
      expect(Buffer.from(fields.tail).toString()).toBe(folder);
      standIn.end(stream, done);
    }
    await starting;
  });

  it("are made where they are missing, also in a root that its owner may not write to", async () => {
    const { container, place } = supervisedScene();
    place.openFolders = ["/work/deep"];
    const starting = container.start();
    const standIn = await standInOf(place);
    const answers = [missing, denied, done, done, done];
    const asked: string[] = [];
    for (const [index, answer] of answers.entries()) {
      const { fields, stream } = await standIn.next("FILE", index + 1);
      asked.push(`${fields.verb} ${Buffer.from(fields.tail).toString()} ${fields.mode.toString(8)}`);
      standIn.end(stream, answer);
    }
    await starting;
    expect(asked).toEqual([
      "8 /work/deep 1777",
      "5 /work/deep 755",
      "8 / 755",
      "5 /work/deep 755",
      "8 /work/deep 1777",
    ]);
  });

  it.each([
    ["is removed", done],
    ["need not be there", missing],
  ])("are emptied first where they are new file systems: what their making left %s", async (_, answer) => {
    const { container, place } = supervisedScene();
    place.openFolders = ["/disk", "/work"];
    place.newFileSystems = ["/disk"];
    const starting = container.start();
    const standIn = await standInOf(place);
    const asked: string[] = [];
    for (const [index, each] of [answer, done, done].entries()) {
      const { fields, stream } = await standIn.next("FILE", index + 1);
      asked.push(`${fields.verb} ${Buffer.from(fields.tail).toString()}`);
      standIn.end(stream, each);
    }
    await starting;
    expect(asked).toEqual(["7 /disklost+found", "8 /disk", "8 /work"]);
  });

  it("hinder the start when they cannot be opened", async () => {
    const { container, place } = supervisedScene();
    place.openFolders = ["/work"];
    const starting = failureOf(container.start(), "PERMISSION_DENIED");
    const standIn = await standInOf(place);
    const { stream } = await standIn.next("FILE");
    standIn.end(stream, denied);
    await starting;
  });
});
