import { once } from "node:events";
import { duplexPair } from "node:stream";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../../../test/helpers/failure-of.ts";
import { supervisedScene } from "../../../../test/helpers/supervised-scene.ts";

describe("the epoch of a container", () => {
  it("rises with each start, so that nothing late is taken for something of today", async () => {
    const { container, place } = supervisedScene({}, { firstEpoch: 65_534 });
    const epochs: number[] = [];
    place.start = async (open) => {
      const [transport, side] = duplexPair();
      const setup = once(side, "data") as Promise<[Buffer]>;
      open(transport);
      const [bytes] = await setup;
      epochs.push(bytes.readUInt16LE(6));
      side.end();
      return { mountsVerified: false };
    };
    await place.kill();
    for (let count = 0; count < 4; count += 1) await failureOf(container.start(), "SANDBOX_LOST");
    expect(epochs).toEqual([65_534, 65_535, 1, 2]);
  });
});
