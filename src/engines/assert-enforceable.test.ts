import { describe, expect, it } from "vitest";
import { strongCapabilities } from "../../test/helpers/strong-capabilities.ts";
import { assertEnforceable, optionalDemands } from "./assert-enforceable.ts";
import type { Capabilities } from "./capabilities.ts";

const options = { engine: "docker", minIsolation: "preload" } as const;

describe("assertEnforceable", () => {
  it("has nothing to say of an engine that enforces everything", () => {
    expect(assertEnforceable(strongCapabilities, options)).toEqual({ warnings: [] });
  });

  it("names a substitute that stands in", () => {
    const { warnings } = assertEnforceable(
      { ...strongCapabilities, seccomp: { substitute: "gVisor's own kernel" } },
      options,
    );
    expect(warnings).toEqual([expect.stringContaining("gVisor's own kernel")]);
  });

  it("refuses what has neither, naming the engine, the demand and the way on", () => {
    expect(() => assertEnforceable({ ...strongCapabilities, pidsLimit: "no" }, options)).toThrow(
      expect.objectContaining({
        errorType: "UNSUPPORTED",
        message: "Engine docker cannot enforce a process limit here.",
        context: { engine: "docker", missing: "pidsLimit" },
      }),
    );
  });

  it("names all that is missing, and what can be done about limits", () => {
    const weak: Capabilities = { ...strongCapabilities, memoryLimit: "no", cpuLimit: "no", pidsLimit: "no" };
    const advised = { ...weak, limitsAdvice: "Boot with control groups." };
    expect(() => assertEnforceable(advised, options)).toThrow(
      expect.objectContaining({
        message: "Engine docker cannot enforce a memory limit, a CPU limit and a process limit here.",
        suggestion: expect.stringMatching(/^Boot with control groups\. Or choose an engine/),
        context: { engine: "docker", missing: "memoryLimit, cpuLimit, pidsLimit" },
      }),
    );
    expect(() => assertEnforceable({ ...strongCapabilities, seccomp: "no", limitsAdvice: "Boot." }, options)).toThrow(
      expect.objectContaining({ suggestion: expect.stringMatching(/^Choose an engine/) }),
    );
  });

  it("refuses an engine that seals less than is demanded", () => {
    expect(() =>
      assertEnforceable({ ...strongCapabilities, isolation: "namespaces" }, { ...options, minIsolation: "container" }),
    ).toThrow(
      expect.objectContaining({
        errorType: "UNSUPPORTED",
        message: expect.stringContaining('"container" is required'),
      }),
    );
  });

  it("lets a demand that nobody made by name fall away on the embedded engine only, with a warning", () => {
    const embedded: Capabilities = { ...strongCapabilities, images: false, cpuLimit: "no" };
    const tolerant = { ...options, optional: optionalDemands(embedded, []) };
    expect(assertEnforceable(embedded, tolerant).warnings).toEqual([expect.stringContaining("does not enforce")]);
    const demanding = { ...options, optional: optionalDemands(embedded, ["cpuLimit"]) };
    expect(() => assertEnforceable(embedded, demanding)).toThrow(expect.objectContaining({ errorType: "UNSUPPORTED" }));
    const containers: Capabilities = { ...strongCapabilities, cpuLimit: "no" };
    expect(optionalDemands(containers, [])).toEqual([]);
  });
});
