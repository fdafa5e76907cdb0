import { describe, expect, it } from "vitest";
import { operationTable } from "../../operations/table.ts";
import { offeredTools, parseProfiles, profilesWith, type ToolProfile } from "./tool-profiles.ts";
import type { ToolDeployment } from "./input-schema.ts";
import { toolList } from "../mcp-door.ts";

const limits = { cpus: 2, memory_mb: 2048, timeout_seconds: 1800, pids: 512, disk_mb: 10_240 };
const plain: ToolDeployment = {
  sessionIsolation: "container",
  limits: { session: limits, execute: limits, test: limits, preview: limits, environment: limits, agent: limits },
  ceilings: { cpus: 4, memory_mb: 8192, timeout_seconds: 3600, pids: 4096, disk_mb: 10_240 },
  secrets: [],
  choosesIsolation: false,
  buildsDockerfiles: false,
};
/** All that a deployment may have to say. */
const full: ToolDeployment = {
  ...plain,
  sessionIsolation: "preload",
  secrets: Array.from({ length: 64 }, (_, index) => `SECRET_OF_THE_DEPLOYMENT_${index}`),
  choosesIsolation: true,
  buildsDockerfiles: true,
};

interface NumberField {
  readonly type?: string;
  readonly description: string;
  readonly maximum?: number;
}

const listed = (profiles?: readonly ToolProfile[], deployment: ToolDeployment = plain) =>
  toolList(offeredTools(operationTable, profiles), deployment, true);
const charactersOf = (tools: ReturnType<typeof listed>): number => JSON.stringify({ tools }).length;

describe("the list of tools", () => {
  it.each([
    ["the default profiles", undefined, 16_000],
    ["all", ["all"], 32_000],
  ] as const)("of %s is within its budget, schemas included", (_, profiles, budget) => {
    expect(charactersOf(listed(profiles))).toBeLessThan(budget);
    expect(charactersOf(listed(profiles, full))).toBeLessThan(budget);
  });

  it("tells the default and the ceiling of every number that may be left out", () => {
    const numbers = listed(["all"]).flatMap(({ name, inputSchema }) =>
      Object.entries(inputSchema.properties as unknown as Record<string, NumberField>)
        .filter(([, { type }]) => type === "number" || type === "integer")
        .map(([field, schema]) => ({ field: `${name}.${field}`, ...schema })),
    );
    expect(numbers.length).toBeGreaterThan(15);
    // Where to read on has no ceiling; `tail` stands in for an offset.
    const isOpen = (field: string): boolean => /\.(\w+_)?offset$|\.tail$/.test(field);
    const untold = numbers.filter(
      ({ field, description, maximum }) =>
        !(field.endsWith(".tail") || /default/i.test(description)) ||
        !(isOpen(field) || maximum !== undefined || /at most/.test(description)),
    );
    expect(untold).toEqual([]);
  });

  it("is that of the profiles", () => {
    const names = (...profiles: ToolProfile[]) => listed(profiles).map(({ name }) => name);
    expect(names("run")).toEqual(["execute_code", "read_logs", "view_artifact"]);
    expect(names("process", "test")).toEqual(expect.arrayContaining(["run_tests", "start_process"]));
    expect(names("process")).not.toContain("execute_code");
    expect(listed().map(({ name }) => name)).not.toContain("run_tests");
    expect(names("all").length).toBeGreaterThan(20);
  });

  it("tells defaults and ceilings of the deployment, and secrets and isolation only where it has them", () => {
    const fieldsOf = (deployment: ToolDeployment) =>
      listed(undefined, deployment).find(({ name }) => name === "execute_code")?.inputSchema.properties as Record<
        string,
        { description: string }
      >;
    expect(fieldsOf(plain)["timeout_seconds"]?.description).toBe("Default 1800, at most 3600.");
    expect(fieldsOf(plain)["limits"]?.description).toContain("memory_mb 2048 (8192)");
    for (const field of ["secrets", "min_isolation"]) {
      expect(fieldsOf(plain)).not.toHaveProperty(field);
      expect(fieldsOf(full)).toHaveProperty(field);
    }
    expect(fieldsOf(full)["secrets"]?.description).toContain("SECRET_OF_THE_DEPLOYMENT_0 and 63 more");
    expect(fieldsOf(full)).not.toHaveProperty("oci_runtime");
  });
});

describe("profiles", () => {
  it("are read from a line", () => {
    expect(parseProfiles("run, test,run")).toEqual(["run", "test"]);
    expect(profilesWith("run_tests")).toEqual(["test", "all"]);
  });

  it.each(["", ",", "run,tests", "ALL"])("that are none are refused with those there are: %j", (text) => {
    expect(() => parseProfiles(text)).toThrow(/--tools.*run, session, project, process, test, preview, agent, all/);
  });
});
