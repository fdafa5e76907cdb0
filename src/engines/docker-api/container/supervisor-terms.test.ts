import { describe, expect, it } from "vitest";
import { spawnFilter } from "../../../policy/seccomp/spawn-filter.ts";
import type { SeccompOptions } from "../../../policy/seccomp/seccomp-policy.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import { supervisorCapabilities } from "../../supervised/container/apart-terms.ts";
import type { RuntimeKind } from "../oci-runtime.ts";
import { assertSupervisable, supervisorTerms } from "./supervisor-terms.ts";

const spec: ContainerSpec = {
  name: "box",
  image: "base:1",
  labels: {},
  limits: { cpus: 1, memoryBytes: 1_000_000, pids: 10 },
  scratch: [],
};
const circumstances = {
  binary: { architecture: "x64", build: "0f" },
  runtimeKind: "namespaces",
  own: 60_707,
} as const;

describe("supervisorTerms", () => {
  it("demands three capabilities and a user that is neither root nor a program's", () => {
    expect(supervisorTerms({ ...spec, processUser: "7:8" }, circumstances)).toMatchObject({
      build: "0f",
      mode: "apart",
      becomes: { user: 60_707, group: 60_707 },
      own: { user: 60_707, group: 60_707 },
      capabilities: 0xe0n,
      programs: { user: 7, group: 8 },
      tags: null,
      facts: ["SUBREAPER"],
    });
  });

  it("demands what installers have, beside", () => {
    const installers = { ...spec, rootCapabilities: ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETUID", "SETGID"] as const };
    expect(supervisorTerms(installers, circumstances).capabilities).toBe(0xebn);
    expect(supervisorCapabilities(installers)).toEqual([
      ...["SETPCAP", "SETUID", "SETGID", "KILL", "CHOWN", "DAC_OVERRIDE", "FOWNER"],
    ]);
  });

  it("gives each program the whole policy, and in gVisor what protects the supervisor; installers may set setuid bits", () => {
    const filterOf = (more: Partial<ContainerSpec>, runtimeKind: RuntimeKind = "namespaces"): Buffer =>
      Buffer.from(supervisorTerms({ ...spec, ...more }, { ...circumstances, runtimeKind }).filter);
    const expected = (policy?: SeccompOptions): Buffer => Buffer.from(spawnFilter("x64", policy).program);
    expect(filterOf({}).equals(expected({ setuidBits: false }))).toBe(true);
    expect(filterOf({}, "vm").equals(expected({ setuidBits: false }))).toBe(true);
    expect(filterOf({ rootCapabilities: [] }).equals(expected({ setuidBits: true }))).toBe(true);
    expect(filterOf({}, "gvisor").equals(expected())).toBe(true);
  });

  it("tells the trees of programs apart by groups where a kernel knows no child subreapers", () => {
    const terms = supervisorTerms(spec, { ...circumstances, runtimeKind: "gvisor" });
    expect(terms).toMatchObject({ tags: { count: 256 }, facts: ["TAGS"] });
  });
});

describe("assertSupervisable", () => {
  const engine = { name: "docker", title: "Docker" };

  it.each([{ processUser: "0:0" }, { processUser: "0:5" }, { rootCapabilities: [] }])(
    "refuses root in gVisor (%o)",
    (more) => {
      const own: ContainerSpec = { ...spec, ...more };
      expect(() => assertSupervisable(own, "gvisor", engine)).toThrow(
        expect.objectContaining({ errorType: "UNSUPPORTED" }),
      );
      assertSupervisable(own, "namespaces", engine);
    },
  );

  it("lets everybody else in", () => {
    for (const own of [spec, { ...spec, processUser: "1000:0" }]) {
      expect(() => assertSupervisable(own, "gvisor", engine)).not.toThrow();
    }
  });
});
