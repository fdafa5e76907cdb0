import { describe, expect, it } from "vitest";
import type { Engine, EngineProbe } from "../engine.ts";
import { createLeveledEngine } from "./leveled-engine.ts";
import { onlyTheHost } from "./only-the-host.ts";

const notHere: EngineProbe = { available: false, reason: "No namespaces here.", howToStart: "Buy some." };

function fake(version: string, available: boolean, closed: string[]): Engine {
  const unused = (): never => {
    throw new Error("Not part of this test.");
  };
  const close = async (): Promise<void> => void closed.push(version);
  return {
    name: "local",
    images: { ...onlyTheHost(async () => []), identity: async () => `host of ${version}` },
    probe: async () => (available ? ({ available, version, capabilities: {} } as unknown as EngineProbe) : notHere),
    capabilities: unused,
    create: unused,
    list: async () => [],
    close,
    [Symbol.asyncDispose]: close,
  };
}

describe("createLeveledEngine", () => {
  it("takes namespaces where they can be had, and makes no other engine", async () => {
    const closed: string[] = [];
    const engine = createLeveledEngine({
      namespaces: fake("namespaces", true, closed),
      preload: () => {
        throw new Error("It was made.");
      },
    });
    expect(await engine.probe()).toMatchObject({ version: "namespaces" });
    await engine.close();
    expect(closed).toEqual(["namespaces"]);
  });

  it("falls back to preload, which is told why, and stays with it", async () => {
    const closed: string[] = [];
    const reasons: string[] = [];
    const engine = createLeveledEngine({
      namespaces: fake("namespaces", false, closed),
      preload: (reason) => {
        reasons.push(reason);
        return fake("preload", true, closed);
      },
    });
    expect(await engine.probe()).toMatchObject({ version: "preload" });
    expect(await engine.list({})).toEqual([]);
    expect(reasons).toEqual(["No namespaces here."]);
    expect(await engine.images.identity("any")).toBe("host of preload");
    await engine.close();
    expect(closed).toEqual(["preload", "namespaces"]);
  });

  it("tells what the better level lacks when neither can be had", async () => {
    const closed: string[] = [];
    const engine = createLeveledEngine({
      namespaces: fake("namespaces", false, closed),
      preload: () => fake("preload", false, closed),
    });
    expect(await engine.probe()).toEqual(notHere);
  });
});
