import { describe, expect, it } from "vitest";
import { environmentLayer, unknownVariables, variableOf } from "./environment-layer.ts";
import { environmentTable } from "./environment-table.ts";
import { settingsKeys } from "./settings-keys.ts";

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
