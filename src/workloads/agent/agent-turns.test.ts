import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentTurns } from "./agent-turns.ts";

let folder = "";
beforeEach(() => void (folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")))));
afterEach(() => rmSync(folder, { recursive: true }));

const turns = (maxWaiting = 10): AgentTurns =>
  new AgentTurns({ folder: path.join(folder, "agents"), uid: process.getuid?.() ?? null, maxWaiting });
const noSignal = { signal: undefined, onWait: () => undefined };

describe("AgentTurns", () => {
  it("lets runs of one group come one after another, in their order, and those of others at once", async () => {
    const told: string[] = [];
    const first = Promise.withResolvers<void>();
    const agents = turns();
    const one = agents.inTurn("a", noSignal, async () => {
      told.push("one begins");
      await first.promise;
      told.push("one ends");
    });
    const two = agents.inTurn("a", { ...noSignal, onWait: () => told.push("two waits") }, async () => told.push("two"));
    const three = agents.inTurn("a", noSignal, async () => told.push("three"));
    await agents.inTurn("b", noSignal, async () => told.push("other"));
    first.resolve();
    await Promise.all([one, two, three]);
    expect(told.filter((what) => what !== "other" && what !== "two waits")).toEqual([
      "one begins",
      "one ends",
      "two",
      "three",
    ]);
    expect(told.indexOf("other")).toBeLessThan(told.indexOf("one ends"));
    expect(told).toContain("two waits");
  });

  it("holds the turn against other processes too", async () => {
    const waits = Promise.withResolvers<void>();
    const told: string[] = [];
    await turns().inTurn("a", noSignal, async () => {
      void turns()
        .inTurn("a", { signal: undefined, onWait: () => waits.resolve() }, async () => told.push("other process"))
        .catch(() => told.push("failed"));
      await waits.promise;
      told.push("this process");
    });
    await expect.poll(() => told, { timeout: 30_000 }).toEqual(["this process", "other process"]);
  });

  it("goes on after work that failed and after waiting that was given up", async () => {
    const agents = turns();
    await expect(agents.inTurn("a", noSignal, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    const given = new AbortController();
    const block = Promise.withResolvers<void>();
    const one = agents.inTurn("a", noSignal, () => block.promise);
    const two = agents.inTurn("a", { ...noSignal, signal: given.signal }, async () => "two");
    given.abort();
    await expect(two).rejects.toMatchObject({ errorType: "CANCELLED" });
    block.resolve();
    await one;
    expect(await agents.inTurn("a", noSignal, async () => "three")).toBe("three");
  });

  it("refuses more than may wait", async () => {
    const agents = turns(1);
    const block = Promise.withResolvers<void>();
    const one = agents.inTurn("a", noSignal, () => block.promise);
    const two = agents.inTurn("a", noSignal, async () => "two");
    const three = agents.inTurn("a", noSignal, async () => "three").catch((error: unknown) => error);
    const waits = sleep(5_000, "it waits", { ref: false });
    expect(await Promise.race([three, waits])).toMatchObject({ errorType: "CAPACITY" });
    block.resolve();
    await Promise.all([one, two]);
  });
});
