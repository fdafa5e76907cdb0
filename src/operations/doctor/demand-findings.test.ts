import { describe, expect, it } from "vitest";
import type { Capabilities } from "../../engines/capabilities.ts";
import { demandReport } from "./demand-findings.ts";

const able: Capabilities = {
  isolation: "container",
  images: true,
  seccomp: "yes",
  noNewPrivileges: "yes",
  setuidRefusal: "yes",
  readOnlyRoot: "yes",
  noNetwork: "yes",
  memoryLimit: "yes",
  cpuLimit: "yes",
  pidsLimit: "yes",
  scratch: "memory",
  oomReporting: true,
  cpuReporting: true,
  execUser: true,
  hostPaths: true,
  execNetwork: "shared",
  diskLimit: "no",
};

function report(change: Partial<Capabilities>): ReturnType<typeof demandReport> {
  return demandReport({ ...able, ...change }, { engine: "docker", minIsolation: "namespaces" });
}

describe("demandReport", () => {
  it("has nothing to say of an engine that meets every demand", () => {
    expect(report({})).toEqual({ usable: true, findings: [] });
  });

  it("notes what something weaker meets, with what can be done about it", () => {
    const memoryLimit = { substitute: "a limit that leaves swap unlimited" };
    const { usable, findings } = report({ memoryLimit, limitsAdvice: "Count swap." });
    expect(usable).toBe(true);
    expect(findings).toEqual([
      expect.objectContaining({
        severity: "note",
        what: expect.stringMatching(/^Engine docker replaces a memory limit with .*swap/),
        fix: "Count swap.",
      }),
    ]);
    expect(report({ memoryLimit }).findings[0]?.fix).toBe("Nothing needs to be done.");
  });

  it.each([
    [{ seccomp: "no" }, /seccomp/],
    [{ isolation: "preload" }, /isolation "preload"/],
  ] as const)("tells when runs are refused: %j", (change, what) => {
    const { usable, findings } = report(change);
    expect(usable).toBe(false);
    expect(findings).toEqual([
      { severity: "warning", what: expect.stringMatching(what), why: expect.any(String), fix: expect.any(String) },
    ]);
  });

  it("passes on what the engine advises about limits that it lacks", () => {
    const { usable, findings } = report({ cpuLimit: "no", limitsAdvice: "Hand them down." });
    expect(usable).toBe(false);
    expect(findings[0]?.fix).toMatch(/^Hand them down\. Or choose/);
  });
});
