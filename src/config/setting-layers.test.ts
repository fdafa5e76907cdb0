import { describe, expect, it } from "vitest";
import {
  environmentLayer,
  unknownVariables,
  variableOf,
  settingsKeys,
  nest,
  valueAt,
  describeConfig,
  effectiveSettings,
} from "./setting-layers.ts";
import { environmentTable } from "./environment-table.ts";
import { readFileSync } from "node:fs";
import { loadConfig } from "./load-config.ts";

describe("the environment table", () => {
  it("has one variable for each key and no other", () => {
    const keys = Object.values(environmentTable).map((row) => row.key);
    expect(keys.toSorted()).toEqual(settingsKeys.map((row) => row.key).toSorted());
  });

  it("names the variables of limits and ceilings by one rule", () => {
    expect(variableOf("limits.execute.memory_mb")).toBe("GLOVEBOX_LIMIT_EXECUTE_MEMORY_MB");
    expect(variableOf("ceilings.timeout_seconds")).toBe("GLOVEBOX_CEILING_TIMEOUT_SECONDS");
    expect(variableOf("container_timeout_ms")).toBe("CONTAINER_TIMEOUT");
    expect(variableOf("limits.agent.timeout_seconds")).toBeNull();
  });
});

describe("environmentLayer", () => {
  it("reads text, numbers and lists into nested keys", () => {
    const environment = {
      CONTAINER_RUNTIME: " podman\r",
      MAX_CONTAINERS: "5",
      GLOVEBOX_CEILING_CPUS: "2.5",
      GLOVEBOX_QUEUE_TIMEOUT: "90",
      GLOVEBOX_ENV_ALLOWLIST: "A, B,",
      UNRELATED: "x",
    };
    expect(JSON.parse(JSON.stringify(environmentLayer(environment).content))).toEqual({
      container_runtime: "podman",
      max_containers: 5,
      ceilings: { cpus: 2.5 },
      queue: { timeout: "90" },
      environment_allowlist: ["A", "B", ""],
    });
  });

  it.each(["5x", "1e3", "0x10", "NaN", "Infinity", "1,5", "--5"])("leaves %j text for the schema to refuse", (text) => {
    expect(environmentLayer({ MAX_CONTAINERS: text }).content).toEqual({ max_containers: text });
  });

  it("takes an empty variable as unset", () => {
    expect(environmentLayer({ EXECUTION_MODE: "", MAX_CONTAINERS: "  ", GLOVEBOX_ENV_ALLOWLIST: "" }).content).toEqual(
      {},
    );
  });
});

describe("unknownVariables", () => {
  it("accepts every variable of the table, GLOVEBOX_CONFIG, the test suite's and those that are not ours", () => {
    const names = [
      ...Object.keys(environmentTable),
      "GLOVEBOX_CONFIG",
      "GLOVEBOX_TEST_REQUIRE",
      "GLOVEBOX_TESTBED_X",
      "DOCKER_HOST",
    ];
    expect(unknownVariables(Object.fromEntries(names.map((name) => [name, "x"])))).toEqual([]);
  });

  it.each([
    ["GLOVEBOX_QUEUE_LIMITS", " (did you mean GLOVEBOX_QUEUE_LIMIT?)"],
    ["GLOVEBOX_LIMIT_EXECUTE_MEMORY", " (did you mean GLOVEBOX_LIMIT_EXECUTE_MEMORY_MB?)"],
    ["GLOVEBOX_LIMIT_AGENT_TIMEOUT_SECONDS", " (did you mean CONTAINER_TIMEOUT?)"],
    ["GLOVEBOX_EXECUTION_MODE", " (did you mean EXECUTION_MODE?)"],
    ["GLOVEBOX_ZZZZZZZZZZZZZZZZZZZZZZZZZZ", ""],
  ])("names %s and the nearest one", (name, hint) => {
    expect(unknownVariables({ [name]: "" })).toEqual([`environment variable ${name} is not known${hint}`]);
  });
});

describe("settingsKeys", () => {
  it("lists 106 keys, each once, each described in a sentence", () => {
    expect(new Set(settingsKeys.map((row) => row.key)).size).toBe(106);
    expect(settingsKeys.filter((row) => !/^[A-Z].*\.$/s.test(row.description))).toEqual([]);
  });
});

describe("nest and valueAt", () => {
  it("are each other's opposite", () => {
    const nested = nest([
      ["a.b.c", 1],
      ["a.b.d", null],
      ["a.e", undefined],
      ["f", [2]],
    ]);
    expect(JSON.parse(JSON.stringify(nested))).toEqual({ a: { b: { c: 1, d: null } }, f: [2] });
    expect(["a.b.c", "a.b.d", "a.e", "f", "a.b.c.x", "g.h"].map((key) => valueAt(nested, key))).toEqual([
      1,
      null,
      undefined,
      [2],
      undefined,
      undefined,
    ]);
  });

  it("reach no prototype", () => {
    nest([["__proto__.polluted", true]]);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    expect(valueAt({}, "constructor.name")).toBeUndefined();
  });
});

const documented = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");

describe("docs/configuration.md", () => {
  it("has one row for each key, with its variable, default and description, and no other rows", () => {
    const rows = documented.split("\n").filter((line) => line.startsWith("| `"));
    const expected = describeConfig().map(({ key, variable, default: value, description }) => {
      const shown = value === null ? "unset" : `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
      return `| \`${key}\` | \`${variable}\` | ${shown} | ${description} |`;
    });
    expect(rows).toEqual(expected);
  });

  it("shows a file that is valid", async () => {
    const [, example = ""] = /```json\n([^`]*)```/.exec(documented) ?? [];
    const loaded = await loadConfig({
      environment: {},
      file: "example",
      homeDirectory: "/home/ann",
      readFile: async () => example,
    });
    const set = Object.values(loaded.sources).filter((source) => source === "file");
    expect(set.length).toBeGreaterThan(3);
  });
});

describe("effectiveSettings", () => {
  it("tells the value, variable and source of every key", async () => {
    const loaded = await loadConfig({
      environment: { MAX_CONTAINERS: "3" },
      homeDirectory: "/home/ann",
      readFile: async () => '{"log_level": "debug"}',
    });
    const rows = effectiveSettings(loaded);
    expect(rows.map((row) => row.key)).toEqual(describeConfig().map((row) => row.key));
    expect(rows).toEqual(
      expect.arrayContaining([
        { key: "max_containers", variable: "MAX_CONTAINERS", value: 3, source: "environment" },
        { key: "log_level", variable: "GLOVEBOX_LOG_LEVEL", value: "debug", source: "file" },
        { key: "queue.timeout", variable: "GLOVEBOX_QUEUE_TIMEOUT", value: "30s", source: "default" },
      ]),
    );
  });

  it("masks secret values, and tells where they come from all the same", async () => {
    const loaded = await loadConfig({
      environment: { GLOVEBOX_IMAGE_PYTHON: "user-and-token" },
      homeDirectory: "/home/ann",
      readFile: async () => "{}",
    });
    expect(JSON.stringify(effectiveSettings(loaded))).toContain("user-and-token");
    const masked = effectiveSettings(loaded, ["images.python", "log_level"]);
    expect(JSON.stringify(masked)).not.toContain("user-and-token");
    expect(masked.filter((row) => row.value === "(not shown)")).toEqual([
      { key: "images.python", variable: "GLOVEBOX_IMAGE_PYTHON", value: "(not shown)", source: "environment" },
      { key: "log_level", variable: "GLOVEBOX_LOG_LEVEL", value: "(not shown)", source: "default" },
    ]);
  });
});
