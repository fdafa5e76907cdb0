import { describe, expect, it } from "vitest";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Level, LocalEngineOptions } from "./level.ts";
import { createLocalEngine, openLevel, type LevelOpeners } from "./local-engine.ts";

const closed: string[] = [];
const options = {} as LocalEngineOptions;

function levelOf(version: string): Level {
  return { version, close: () => void closed.push(version) } as unknown as Level;
}

const opens = (version: string) => async (): Promise<Level> => levelOf(version);
const fails = (message: string) => async (): Promise<Level> => {
  throw new GloveboxError("ENGINE_UNAVAILABLE", message, { suggestion: "Buy some." });
};

function unused(): never {
  throw new Error("It was opened.");
}

describe("openLevel", () => {
  it("takes namespaces where they are available, and opens no other level", async () => {
    expect(await openLevel(options, { namespaces: opens("namespaces"), preload: unused })).toMatchObject({
      version: "namespaces",
    });
  });

  it("falls back to preload, which is told why", async () => {
    const told: unknown[] = [];
    const preload: LevelOpeners["preload"] = async (_options, why) => {
      told.push(why);
      return levelOf("preload");
    };
    expect(await openLevel(options, { namespaces: fails("No namespaces here."), preload })).toMatchObject({
      version: "preload",
    });
    expect(told).toEqual([{ reason: "No namespaces here.", fix: "Buy some." }]);
  });

  it("tells what the better level lacks when neither is available", async () => {
    const opening = openLevel(options, { namespaces: fails("No namespaces here."), preload: fails("No Python.") });
    await expect(opening).rejects.toThrow("No namespaces here.");
  });

  it("falls back for nothing but a host that does not allow it", async () => {
    const namespaces = async (): Promise<Level> => {
      throw new GloveboxError("CANCELLED", "Cancelled.");
    };
    await expect(openLevel(options, { namespaces, preload: unused })).rejects.toThrow("Cancelled.");
  });

  it.each(["namespaces", "preload"] as const)("opens %s alone when that is asked for", async (level) => {
    const both = { namespaces: opens("namespaces"), preload: opens("preload") };
    expect(await openLevel({ ...options, level }, { ...both })).toMatchObject({ version: level });
  });
});

describe("createLocalEngine", () => {
  it("stays with the level that it found, and closes it", async () => {
    let times = 0;
    const engine = createLocalEngine(options, async () => {
      times++;
      return levelOf("preload");
    });
    expect(await engine.probe()).toMatchObject({ available: true, version: "preload" });
    await engine.capabilities();
    await engine.close();
    expect(times).toBe(1);
    expect(closed).toEqual(["preload"]);
  });

  it("tells what is missing, and looks again at the next question", async () => {
    const answers = [fails("No namespaces here."), opens("namespaces")];
    const engine = createLocalEngine(options, () => (answers.shift() ?? unused)());
    expect(await engine.probe()).toEqual({
      available: false,
      reason: "No namespaces here.",
      howToStart: "Buy some.",
    });
    expect(await engine.probe()).toMatchObject({ available: true });
  });
});
