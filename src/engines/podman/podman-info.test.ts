import { describe, expect, it } from "vitest";
import { engineCapabilities } from "../docker-api/engine-capabilities.ts";
import { correctInfo, type PodmanInfo } from "./podman-info.ts";

const local = { kind: "socket", tls: null, remote: false, origin: "the default socket" } as const;
const claims = {
  SecurityOptions: ["name=seccomp,profile=default"],
  MemoryLimit: true,
  SwapLimit: true,
  CpuCfsQuota: true,
  PidsLimit: true,
};
const able: NonNullable<PodmanInfo["host"]> = {
  cgroupVersion: "v2",
  cgroupManager: "systemd",
  cgroupControllers: ["cpu", "memory", "pids"],
  security: { rootless: false, seccompEnabled: true },
};
const rootless = { rootless: true, seccompEnabled: true };
const noLimits = { memoryLimit: "no", cpuLimit: "no", pidsLimit: "no", oomReporting: false };

describe("correctInfo", () => {
  it.each([
    ["root on cgroup v2", able, {}],
    ["root on cgroup v1", { ...able, cgroupVersion: "v1" }, {}],
    ["root without systemd", { ...able, cgroupManager: "cgroupfs" }, {}],
    ["no root, all controllers handed down", { ...able, security: rootless }, {}],
    [
      "no root, some controllers handed down",
      { ...able, security: rootless, cgroupControllers: ["memory", "pids"] },
      { cpuLimit: "no", limitsAdvice: expect.stringContaining("Delegate=cpu memory pids") },
    ],
    [
      "no root and no systemd, whatever it lists",
      { ...able, security: rootless, cgroupManager: "cgroupfs" },
      { ...noLimits, limitsAdvice: expect.stringContaining('cgroup_manager="systemd"') },
    ],
    [
      "no root on cgroup v1, whatever it lists",
      { ...able, security: rootless, cgroupVersion: "v1" },
      { ...noLimits, limitsAdvice: expect.stringContaining("systemd.unified_cgroup_hierarchy=1") },
    ],
    ["a kernel without seccomp", { ...able, security: { seccompEnabled: false } }, { seccomp: "no" }],
    ["a service that tells nothing", {}, { ...noLimits, seccomp: "no" }],
  ])("with %s tells the truth", (_, host, expected) => {
    const all = { seccomp: "yes", memoryLimit: "yes", cpuLimit: "yes", pidsLimit: "yes", oomReporting: true };
    expect(engineCapabilities(correctInfo(claims, { host }, local), { sharesFiles: true })).toMatchObject({
      ...all,
      ...expected,
    });
  });

  it("has no advice where nothing is missing", () => {
    const info = correctInfo(claims, { host: { ...able, security: rootless } }, local);
    expect(engineCapabilities(info, { sharesFiles: true })).not.toHaveProperty("limitsAdvice");
  });

  it("says that a service elsewhere gets no profile of ours", () => {
    const info = correctInfo(claims, { host: able }, { ...local, remote: true });
    expect(engineCapabilities(info, { sharesFiles: true }).seccomp).toBe("no");
  });

  it("tells who the containers' root is", () => {
    expect(correctInfo(claims, { host: { ...able, security: rootless } }, local).SecurityOptions).toEqual([
      "name=seccomp",
      "name=rootless",
    ]);
    expect(correctInfo({}, { host: able }, local).SecurityOptions).toEqual(["name=seccomp"]);
  });
});
