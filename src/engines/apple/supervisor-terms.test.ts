import { describe, expect, it } from "vitest";
import { spawnFilter } from "../../policy/seccomp/spawn-filter.ts";
import type { ContainerSpec } from "../container-spec.ts";
import { supervisorTerms } from "./apple-engine.ts";

const spec: ContainerSpec = {
  name: "box",
  image: "base:1",
  labels: {},
  limits: { cpus: 1, memoryBytes: 1_000_000, pids: 10 },
  scratch: [],
};
const binary = { architecture: "arm64", build: "0f" } as const;

describe("a supervisor in Apple's virtual machines", () => {
  it("is apart from its programs, with its own user and three capabilities", () => {
    expect(supervisorTerms({ ...spec, processUser: "501:20" }, binary)).toMatchObject({
      mode: "apart",
      becomes: { user: 65_533, group: 65_533 },
      capabilities: 0xe0n,
      programs: { user: 501, group: 20 },
      facts: ["SUBREAPER"],
    });
  });

  it("gives each program the whole policy, because nothing else filters there; installers may set setuid bits", () => {
    const bytes = (filter: Uint8Array): Buffer => Buffer.from(filter);
    const programs = spawnFilter("arm64", { setuidBits: false }).program;
    expect(bytes(supervisorTerms(spec, binary).filter).equals(programs)).toBe(true);
    const installers = spawnFilter("arm64", { setuidBits: true }).program;
    expect(bytes(supervisorTerms({ ...spec, rootCapabilities: [] }, binary).filter).equals(installers)).toBe(true);
    expect(bytes(programs).equals(installers)).toBe(false);
  });
});
