import { describe, expect, it } from "vitest";
import {
  agentVariables,
  agentEnvironment,
  hostsOfVariables,
  isDryRun,
  keyVariablesOf,
  secretAgentVariables,
} from "./known-agents.ts";

describe("agentEnvironment", () => {
  it("has the variables that are set, in the table's order, then the deployment's own", () => {
    const given = { MY_KEY: "m", OPENAI_API_KEY: "o", PI_MODEL: "x", HA_TOKEN: "" };
    expect(Object.keys(agentEnvironment(given))).toEqual(["PI_MODEL", "OPENAI_API_KEY", "MY_KEY"]);
  });

  it("takes the model's address for OpenAI's where that has none", () => {
    expect(agentEnvironment({ PI_BASE_URL: "https://m.example" })["OPENAI_BASE_URL"]).toBe("https://m.example");
    const both = { PI_BASE_URL: "https://m.example", OPENAI_BASE_URL: "https://o.example" };
    expect(agentEnvironment(both)).toEqual(both);
  });

  it("knows those of the specification, under names that a shell takes", () => {
    const names = agentVariables.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        ...["PI_API", "PI_MODEL", "PI_BASE_URL", "PI_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
        ...["ANTHROPIC_API_KEY", "HA_URL", "HA_TOKEN", "FFT_NANO_DRY_RUN"],
      ]),
    );
    for (const name of names) expect(name).toMatch(/^[A-Z][A-Z0-9_]*$/);
  });

  it("takes every key and token for a secret", () => {
    for (const { name, isPlain = false } of agentVariables) {
      expect([name, isPlain]).toEqual([name, !/KEY$|TOKEN(_BEDROCK)?$/.test(name)]);
    }
  });

  it("knows the variables of a provider's key", () => {
    expect(keyVariablesOf("anthropic")).toEqual(["ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"]);
    expect(keyVariablesOf("zai")).toEqual(["ZAI_API_KEY"]);
    expect(keyVariablesOf("nobody")).toEqual([]);
  });

  it("knows each variable once", () => {
    expect(new Set(agentVariables.map(({ name }) => name)).size).toBe(agentVariables.length);
  });
});

it("every value is a secret but for the few that are plain", () => {
  const given = { PI_MODEL: "x", PI_API_KEY: "k", HA_TOKEN: "t", HA_URL: "http://h", MY_OWN: "m" };
  expect(secretAgentVariables(given).map(({ name }) => name)).toEqual(["PI_API_KEY", "HA_TOKEN", "MY_OWN"]);
});

it("the password in an address is a secret, however it is written", () => {
  const given = { PI_BASE_URL: "https://me:p%40ss@m.example/v1", HA_URL: "http://token@h.example", PI_MODEL: "a:b@c" };
  expect(secretAgentVariables(given)).toEqual([
    { name: "PI_BASE_URL", value: "p%40ss" },
    { name: "PI_BASE_URL", value: "p@ss" },
  ]);
});

it.each([
  ["1", true],
  ["true", true],
  ["yes", true],
  ["0", false],
  ["false", false],
  [" Off ", false],
  ["", false],
])("FFT_NANO_DRY_RUN=%j: %s", (value, expected) => {
  expect(isDryRun({ FFT_NANO_DRY_RUN: value })).toBe(expected);
  expect(isDryRun({})).toBe(false);
});

describe("hostsOfVariables", () => {
  it("names the providers whose keys are there", () => {
    expect(hostsOfVariables({ OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", ANTHROPIC_OAUTH_TOKEN: "t" })).toEqual([
      "api.openai.com",
      "api.anthropic.com",
    ]);
  });

  it("names a model's own address instead, with its port", () => {
    const given = {
      OPENAI_API_KEY: "k",
      PI_BASE_URL: "https://m.example/v1",
      OPENAI_BASE_URL: "http://m.example:8000",
    };
    expect(hostsOfVariables(given)).toEqual(["m.example", "m.example:8000"]);
    expect(hostsOfVariables({ PI_BASE_URL: "http://m.example" })).toEqual(["m.example:80"]);
  });

  it("names the house beside the model", () => {
    expect(hostsOfVariables({ OPENAI_API_KEY: "k", HA_URL: "http://ha.example:8123" })).toEqual([
      "ha.example:8123",
      "api.openai.com",
    ]);
  });

  it("names nothing for what is no address", () => {
    expect(hostsOfVariables({ PI_BASE_URL: "m.example" })).toEqual([]);
    expect(hostsOfVariables({})).toEqual([]);
  });
});
