import { describe, expect, it } from "vitest";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Isolation } from "../policy/isolation.ts";
import type { Capabilities } from "./capabilities.ts";
import { Engines } from "./discover.ts";
import type { EngineSurroundings } from "./engine-surroundings.ts";
import { engineTable, type EngineRow } from "./engine-table.ts";
import type { Engine, EngineName, EngineProbe } from "./engine.ts";

const capabilities = { isolation: "container" } as Capabilities;
const minIsolation = "namespaces";
const asked: EngineName[] = [];

/** The part of an engine that choosing needs; what it answers stands for the machine it is on. */
function engineThat(name: EngineName, answers: boolean): () => Promise<Engine> {
  const probe: EngineProbe = answers
    ? { available: true, version: "1", capabilities }
    : { available: false, reason: `${name} does not answer.`, howToStart: `Start ${name}.` };
  const engine: Engine = {
    name,
    images: {
      has: async () => false,
      identity: async () => "x",
      pull: async () => undefined,
      build: async () => undefined,
      labels: async () => ({}),
      remove: async () => undefined,
      list: async () => [],
    },
    probe: async () => {
      asked.push(name);
      return probe;
    },
    capabilities: async () => capabilities,
    create: () => Promise.reject(new Error("not part of this test")),
    list: async () => [],
    close: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
  return async () => engine;
}

function engines(answering: readonly EngineName[], platform: NodeJS.Platform = "linux"): Engines {
  asked.length = 0;
  const table = engineTable.map((row) => ({ ...row, open: engineThat(row.name, answering.includes(row.name)) }));
  return enginesOf(table, platform);
}

function enginesOf(table: readonly EngineRow[], platform: NodeJS.Platform = "linux"): Engines {
  return new Engines(table, { platform } as EngineSurroundings);
}

describe("choosing an engine", () => {
  it("takes docker, then podman, then apple on Linux", async () => {
    const { engine } = await engines(["podman", "apple"]).choose("auto", { allowEmbedded: false, minIsolation });
    expect(engine.name).toBe("podman");
    expect(asked).toEqual(["docker", "podman"]);
  });

  it("takes apple first on macOS", async () => {
    const { engine } = await engines(["docker", "apple"], "darwin").choose("auto", {
      allowEmbedded: false,
      minIsolation,
    });
    expect(engine.name).toBe("apple");
  });

  it("never falls back to local in container mode, and says what was tried and how to start each", async () => {
    await expect(engines(["local"]).choose("auto", { allowEmbedded: false, minIsolation })).rejects.toMatchObject({
      errorType: "ENGINE_UNAVAILABLE",
      message: expect.stringMatching(/docker does not answer.*podman does not answer.*apple does not answer/),
      suggestion: expect.stringMatching(/Start docker.*Start podman.*Start apple/),
    });
  });

  it("begins on Linux with the line that installs the embedded engine, and leaves out what other systems have", async () => {
    const advice = "`sudo apt-get install bubblewrap`: the embedded engine needs bwrap.";
    const weak = { isolation: "preload", isolationAdvice: advice } as Capabilities;
    const refusalOn = async (platform: NodeJS.Platform, isAbsent?: true): Promise<GloveboxError> => {
      const opening = (probe: EngineProbe, name: EngineName) => async (): Promise<Engine> => ({
        ...(await engineThat(name, false)()),
        probe: async () => probe,
      });
      const down = (name: EngineName) => ({
        available: false as const,
        reason: `No ${name}.`,
        howToStart: `Buy ${name}.`,
      });
      const table: readonly EngineRow[] = [
        { name: "docker", embedded: false, open: opening(down("docker"), "docker") },
        { name: "apple", embedded: false, firstOn: "darwin", open: opening({ ...down("apple"), isAbsent }, "apple") },
        {
          name: "local",
          embedded: true,
          open: opening({ available: true, version: "1", capabilities: weak }, "local"),
        },
      ];
      const choosing = enginesOf(table, platform).choose("auto", { allowEmbedded: true, minIsolation });
      return choosing.then(
        () => Promise.reject(new Error("chosen")),
        (error: unknown) => error as GloveboxError,
      );
    };
    const onLinux = await refusalOn("linux", true);
    expect(onLinux.message).toMatch(/^No engine can be used\. local: .* docker: No docker\.$/);
    expect(onLinux.suggestion).toMatch(
      /^`sudo apt-get install bubblewrap`: .* docker: Buy docker\. To run without .*--min-isolation preload/,
    );
    // A command of that name that fails is told of.
    expect((await refusalOn("linux")).suggestion).toContain("Buy apple.");
    const onMac = await refusalOn("darwin", true);
    expect(onMac.suggestion).toMatch(/^apple: Buy apple\. docker: Buy docker\. local: `sudo/);
  });

  it("falls back to local on the user's own machine and says so", async () => {
    const { engine, notes } = await engines(["local"]).choose("auto", { allowEmbedded: true, minIsolation });
    expect(engine.name).toBe("local");
    expect(notes).toEqual([expect.stringContaining("embedded sandbox")]);
  });

  it("falls back to local at level preload only when that was accepted by name, and tells how else", async () => {
    const advice = "The kernel refuses. Install bubblewrap.";
    const weak = { isolation: "preload", isolationAdvice: advice } as Capabilities;
    const open = async (): Promise<Engine> => ({
      ...(await engineThat("local", true)()),
      probe: async () => ({ available: true, version: "1", capabilities: weak }),
    });
    const engines = enginesOf([
      { name: "docker", embedded: false, open: engineThat("docker", false) },
      { name: "local", embedded: true, open },
    ]);
    await expect(engines.choose("auto", { allowEmbedded: true, minIsolation })).rejects.toMatchObject({
      errorType: "ENGINE_UNAVAILABLE",
      message: expect.stringContaining('local: Engine local reaches isolation "preload" here'),
      suggestion: expect.stringMatching(
        /^The kernel refuses\. Install bubblewrap\..*Start docker\..*--min-isolation preload/,
      ),
    });
    const { engine, notes } = await engines.choose("auto", { allowEmbedded: true, minIsolation: "preload" });
    expect(engine.name).toBe("local");
    expect(notes).toEqual([expect.stringContaining("embedded sandbox")]);
  });

  it("goes on after an engine that fails or is too slow, but not when it is given up", async () => {
    const hanging = (error: GloveboxError): readonly EngineRow[] => [
      {
        name: "docker",
        embedded: false,
        open: async () => ({
          ...(await engineThat("docker", true)()),
          probe: async () => {
            throw error;
          },
        }),
      },
      { name: "podman", embedded: false, open: engineThat("podman", true) },
    ];
    const late = new GloveboxError("ENGINE_UNAVAILABLE", "Engine docker did not answer within 10 s.");
    const { engine } = await enginesOf(hanging(late)).choose("auto", { allowEmbedded: false, minIsolation });
    expect(engine.name).toBe("podman");
    const cancelled = new GloveboxError("CANCELLED", "Given up.");
    const choosing = enginesOf(hanging(cancelled)).choose("auto", { allowEmbedded: false, minIsolation });
    await expect(choosing).rejects.toBe(cancelled);
  });

  it("probes nothing when an engine is named, and refuses a name without an adapter", async () => {
    const { engine, notes } = await engines(["local"]).choose("local", { allowEmbedded: true, minIsolation });
    expect(engine.name).toBe("local");
    expect(notes).toEqual([]);
    expect(asked).toEqual([]);
    await expect(engines([]).choose("nomad", { allowEmbedded: true, minIsolation })).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
      message: expect.stringContaining("docker, podman, apple, kubernetes, local"),
    });
  });

  it("names the embedded engine when the one that was asked for does not answer, only where it could be used", async () => {
    const down = new GloveboxError("ENGINE_UNAVAILABLE", "Docker is down.", { suggestion: "Start it." });
    const suggestion = async (answering: readonly EngineName[], allowEmbedded: boolean, wanted: Isolation) => {
      const table = engineTable.map((row) => ({
        ...row,
        open: async (): Promise<Engine> => ({
          ...(await engineThat(row.name, answering.includes(row.name))()),
          capabilities: () => Promise.reject(down),
        }),
      }));
      const error: unknown = await enginesOf(table)
        .choose("docker", { allowEmbedded, minIsolation: wanted })
        .catch((refusal: unknown) => refusal);
      expect(error).toMatchObject({ errorType: "ENGINE_UNAVAILABLE", message: "Docker is down." });
      return (error as GloveboxError).suggestion;
    };
    expect(await suggestion(["local"], true, "container")).toBe(
      'Start it. Or use engine: "local", which needs no service and has no images.',
    );
    expect(await suggestion([], true, "container")).toBe("Start it.");
    expect(await suggestion(["local"], false, "container")).toBe("Start it.");
    expect(await suggestion(["local"], true, "vm")).toBe("Start it.");
  });
});
