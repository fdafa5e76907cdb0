import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { describeConfig, effectiveSettings } from "./describe-config.ts";
import { loadConfig } from "./load-config.ts";

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
