import { describe, expect, it } from "vitest";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { effectiveSettings } from "./setting-layers.ts";
import { loadConfig, settingsOverrides } from "./load-config.ts";
import type { LoadedConfig } from "./config.ts";

const load = (secrets: unknown, environment: Readonly<Record<string, string>> = {}): Promise<LoadedConfig> =>
  loadConfig({
    environment,
    homeDirectory: "/home/ann",
    readFile: async () => JSON.stringify(secrets === undefined ? {} : { secrets }),
  });

describe("the key secrets", () => {
  it("takes names with their sources", async () => {
    const { values } = await load({
      OPENAI: { env: "OPENAI_API_KEY" },
      db: { file: "~/db-password", principals: ["key:4k2m7q9x1w3e"], kinds: ["agent", "session"] },
    });
    expect(values.secrets).toEqual([
      { name: "OPENAI", from: { kind: "env", variable: "OPENAI_API_KEY" }, principals: null, kinds: null },
      {
        name: "db",
        from: { kind: "file", path: "~/db-password" },
        principals: ["key:4k2m7q9x1w3e"],
        kinds: ["agent", "session"],
      },
    ]);
  });

  it("takes a list of variables, also from GLOVEBOX_SECRETS", async () => {
    const expected = ["A_KEY", "B_KEY"].map((name) => ({
      name,
      from: { kind: "env", variable: name },
      principals: null,
      kinds: null,
    }));
    expect((await load(["A_KEY", "B_KEY", "A_KEY"])).values.secrets).toEqual(expected);
    expect((await load({}, { GLOVEBOX_SECRETS: "A_KEY, B_KEY" })).values.secrets).toEqual(expected);
  });

  it("takes the same from the library's settings", async () => {
    const { values } = await loadConfig({
      environment: {},
      homeDirectory: "/home/ann",
      readFile: async () => "{}",
      flags: settingsOverrides({ secrets: { OPENAI: { env: "KEY" } } }),
    });
    expect(values.secrets).toMatchObject([{ name: "OPENAI", from: { variable: "KEY" } }]);
  });

  const value = "sk-live-0123456789abcdef";
  it.each([
    ["a value in place of a source", { OPENAI: value }],
    ["a value as a field", { OPENAI: { value } }],
    ["a value as a variable's name", { OPENAI: { env: value } }],
    ["a value as a file", { OPENAI: { file: value } }],
    ["principals that no key has", { OPENAI: { env: "A", principals: [value] } }],
    ["two sources", { OPENAI: { env: "A", file: "/b", principals: ["local"] } }],
    ["no source", { OPENAI: { principals: ["local"], kinds: ["agent"] } }],
    ["a kind that is none", { OPENAI: { env: "A", kinds: [value] } }],
    ["a value as a name", { [value]: { env: "A" } }],
    ["a list with a value", ["A_KEY", value]],
    ["a list with a value that could be a name", ["ghp_0123456789abcdef"]],
    ["a value by itself", value],
  ])("refuses %s and shows nothing of it", async (_, secrets) => {
    const error: unknown = await load(secrets).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(GloveboxError);
    const { message, context, suggestion } = error as GloveboxError;
    const shown = JSON.stringify({ message, context, suggestion });
    expect(shown).toContain("secrets (default configuration file): expected");
    expect(shown).not.toMatch(/0123456789abcdef/);
  });

  it("is told what to write instead of a value", async () => {
    await expect(load({ OPENAI: value })).rejects.toThrow(
      'expected for OPENAI { "env": "VARIABLE" } or { "file": "/path" }',
    );
  });

  it("is not shown by doctor", async () => {
    const loaded = await load({ OPENAI: { env: "OPENAI_API_KEY" } });
    expect(effectiveSettings(loaded)).toContainEqual(
      expect.objectContaining({ key: "secrets", value: "(not shown)", source: "file" }),
    );
  });
});
