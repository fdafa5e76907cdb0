import { describe, expect, it } from "vitest";
import type { LoadedConfig } from "./config.ts";
import { loadConfig } from "./load-config.ts";

function load(agents: unknown, environment: Record<string, string> = {}): Promise<LoadedConfig> {
  return loadConfig({ environment, homeDirectory: "/home/ann", readFile: async () => JSON.stringify({ agents }) });
}

describe("groups of agents", () => {
  it("have settings of their own under the names that people know", async () => {
    const mounts = [{ hostPath: "/srv/data", containerPath: "data", readonly: false }, { hostPath: "~/notes" }];
    const containerConfig = { timeout: 60_000, image: "my/agent:1", additionalMounts: mounts };
    const family = { containerConfig, network: ["example.com"], agent: { name: "codex", command: ["codex", "exec"] } };
    const { values } = await load({ groups: { family, plain: {} } });
    expect(values.agents.groups).toEqual({
      family: {
        timeoutMs: 60_000,
        image: "my/agent:1",
        additionalMounts: [
          { path: "/srv/data", target: "data", readOnly: false },
          { path: "~/notes", target: undefined, readOnly: true },
        ],
        network: ["example.com"],
        agent: { name: "codex", command: ["codex", "exec"] },
        principals: null,
      },
      plain: { timeoutMs: null, image: null, additionalMounts: [], network: null, agent: null, principals: null },
    });
  });

  it("come from the variable as JSON too", async () => {
    const groups = { family: { network: ["open"] } };
    const { values } = await load({}, { GLOVEBOX_AGENT_GROUPS: JSON.stringify(groups) });
    expect(values.agents.groups["family"]?.network).toBe("open");
    expect((await load({ network: ["registries"] })).values.agents.network).toBe("registries");
    await expect(load({}, { GLOVEBOX_AGENT_GROUPS: "{family" })).rejects.toThrow("agents.groups");
  });

  it.each([
    [{ family: { containerConfig: { timeout: 0 } } }, "agents.groups.family.containerConfig.timeout"],
    [{ family: { containerConfig: { timeout: "1m" } } }, "agents.groups.family.containerConfig.timeout"],
    [{ family: { containerConfig: { timeot: 1 } } }, "agents.groups.family.containerConfig.timeot"],
    [{ family: { containerConfig: { image: "A B" } } }, "agents.groups.family.containerConfig.image"],
    [
      { family: { containerConfig: { additionalMounts: [{ hostPath: "data" }] } } },
      "agents.groups.family.containerConfig.additionalMounts.0.hostPath",
    ],
    [{ family: { network: ["10.0.0.1"] } }, "agents.groups.family.network"],
    [{ family: { network: ["open", "example.com"] } }, "agents.groups.family.network"],
    [{ family: { agent: { name: "../x" } } }, "agents.groups.family.agent.name"],
    [{ family: { image: "x" } }, "agents.groups.family.image"],
    [{ family: { principals: ["ci"] } }, "agents.groups.family.principals.0"],
    [{ "..": {} }, "agents.groups"],
    [{ global: {} }, "agents.groups.global"],
    [{ Family: {} }, "agents.groups.Family"],
    [[], "agents.groups"],
  ])("%j is refused and named", async (groups, key) => {
    await expect(load({ groups })).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
      message: expect.stringContaining(`${key} (`),
    });
  });
});

describe("the deployment's settings of agents", () => {
  it("have defaults", async () => {
    expect((await load({})).values.agents).toEqual({
      directory: null,
      project: null,
      mainGroup: "main",
      mainWorkspace: "~/nano",
      image: "glovebox-agent",
      imageBase: "node:24-slim",
      agent: "pi",
      network: [],
      variables: [],
      memory: { minRelevance: 0.3, maxCharacters: 8_000 },
      maxLogs: 100,
      farmState: null,
      dashboard: null,
      groups: {},
    });
  });

  it.each([
    [{ main_group: "a/b" }, "agents.main_group"],
    [{ directory: "relative" }, "agents.directory"],
    [{ memory: { min_relevance: 2 } }, "agents.memory.min_relevance"],
    [{ memory: { max_characters: -1 } }, "agents.memory.max_characters"],
    [{ max_logs: 0 }, "agents.max_logs"],
    [{ agent: "Pi!" }, "agents.agent"],
    [{ network: ["none", "x.example"] }, "agents.network"],
    [{ network: ["registries", "x.example"] }, "agents.network"],
  ])("%j is refused and named", async (agents, key) => {
    await expect(load(agents)).rejects.toThrow(key);
  });

  it("take this machine's variables that are in the table or listed, and no others", async () => {
    const environment = { PI_API_KEY: "k", MINE: "m", OTHER: "o", HOME: "/home/ann" };
    const { values } = await load({ variables: ["MINE", "ABSENT"] }, environment);
    expect(values.agentEnvironment).toEqual({ PI_API_KEY: "k", MINE: "m" });
  });
});
