import { describe, expect, it } from "vitest";
import { assertEnforceable } from "../../assert-enforceable.ts";
import { countsProcessesByNamespace, namespacesCapabilities } from "./namespaces-capabilities.ts";

const everything = {
  controllers: new Set(["memory", "pids", "cpu"] as const),
  countsCpuTime: true,
  countsProcessesByNamespace: true,
  isApart: true,
  hasNode: true,
};
const nothing = {
  controllers: new Set<never>(),
  countsCpuTime: false,
  countsProcessesByNamespace: true,
  isApart: false,
  hasNode: false,
};

describe("namespacesCapabilities", () => {
  it("enforces everything with control groups", () => {
    const capabilities = namespacesCapabilities(everything);
    expect(assertEnforceable(capabilities, { engine: "local", minIsolation: "namespaces" }).warnings).toEqual([]);
    expect(capabilities.oomReporting).toBe(true);
    expect(capabilities).not.toHaveProperty("limitsAdvice");
  });

  it("names what stands in for them without", () => {
    const capabilities = namespacesCapabilities(nothing);
    expect(capabilities).toMatchObject({ cpuLimit: "no", oomReporting: true, cpuReporting: false });
    expect(capabilities.limitsAdvice).toMatch(/Delegate=yes/);
    const { warnings } = assertEnforceable(capabilities, {
      engine: "local",
      minIsolation: "namespaces",
      optional: ["cpuLimit"],
    });
    expect(warnings).toHaveLength(4);
  });

  it("says in every result where programs share the supervisor's user", () => {
    expect(namespacesCapabilities(everything)).toMatchObject({ supervisor: "apart" });
    expect(namespacesCapabilities(everything)).not.toHaveProperty("notes");
    const shared = namespacesCapabilities({ ...everything, isApart: false });
    expect(shared).toMatchObject({ supervisor: "shared", notes: [expect.stringContaining("can end others")] });
  });

  it("has Node beside Bun where the host has it", () => {
    expect(namespacesCapabilities(everything)).not.toHaveProperty("javascript");
    expect(namespacesCapabilities(nothing).javascript).toBe("bun");
  });

  it("says of each controller by itself", () => {
    const controllers = new Set(["pids"] as const);
    expect(namespacesCapabilities({ ...everything, controllers })).toMatchObject({
      pidsLimit: "yes",
      cpuLimit: "no",
      memoryLimit: { substitute: expect.any(String) },
    });
  });

  it("has no limit of processes where the kernel would count the user's others, too", () => {
    expect(namespacesCapabilities({ ...nothing, countsProcessesByNamespace: false }).pidsLimit).toBe("no");
  });
});

describe("countsProcessesByNamespace", () => {
  it.each([
    ["5.13.19-generic", false],
    ["5.14.0-1-amd64", true],
    ["6.1.0", true],
    ["4.19.0", false],
    ["5.4.300", false],
    ["", false],
  ])("%s: %s", (release, expected) => {
    expect(countsProcessesByNamespace(release)).toBe(expected);
  });
});
