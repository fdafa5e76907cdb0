import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { LoopTurns } from "./loop-turns.ts";

describe("LoopTurns", () => {
  it("lets one of each principal begin in each turn, in their order", async () => {
    const turns = new LoopTurns();
    const begun: string[] = [];
    const ask = (principal: string, which: number): void =>
      void turns.take(principal).then(() => begun.push(`${principal}${which}`));
    for (let which = 0; which < 100; which++) ask("greedy", which);
    await setImmediate();
    ask("modest", 0);
    for (let turn = 0; turn < 3; turn++) await setImmediate();
    expect(begun.slice(0, 2)).toEqual(["greedy0", "greedy1"]);
    expect(begun.indexOf("modest0")).toBeLessThan(4);
    expect(begun.length).toBeLessThan(10);
    for (let turn = 0; turn < 120; turn++) await setImmediate();
    expect(begun.filter((each) => each.startsWith("greedy"))).toEqual(
      Array.from({ length: 100 }, (_, which) => `greedy${which}`),
    );
  });

  it("lets nobody wait who asks once a turn", async () => {
    const turns = new LoopTurns();
    for (let turn = 0; turn < 5; turn++) {
      let isBegun = false;
      void turns.take("a").then(() => (isBegun = true));
      await Promise.resolve();
      expect(isBegun).toBe(true);
      await setImmediate();
      await setImmediate();
    }
  });
});
