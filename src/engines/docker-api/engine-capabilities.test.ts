import { describe, expect, it } from "vitest";
import { engineCapabilities } from "./engine-capabilities.ts";

const able = {
  SecurityOptions: ["name=apparmor", "name=seccomp,profile=default"],
  MemoryLimit: true,
  SwapLimit: true,
  CpuCfsQuota: true,
  PidsLimit: true,
};

const near = { sharesFiles: true };

describe("engineCapabilities", () => {
  it("of an able engine are all there", () => {
    expect(engineCapabilities(able, near)).toEqual({
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
      hostPaths: true,
      oomReporting: true,
      cpuReporting: true,
      supervisor: "apart",
      execUser: true,
      execNetwork: "shared",
      diskLimit: { substitute: "a watch that measures the root each second and ends the sandbox" },
    });
  });

  it.each([
    [{ SecurityOptions: ["name=apparmor"] }, { seccomp: "no" }],
    [{ SecurityOptions: null }, { seccomp: "no" }],
    [{ MemoryLimit: false }, { memoryLimit: "no", oomReporting: false }],
    [{ SwapLimit: false }, { memoryLimit: { substitute: "a limit that leaves swap unlimited" } }],
    [{ CpuCfsQuota: false }, { cpuLimit: "no", cpuReporting: false }],
    [{ PidsLimit: false }, { pidsLimit: "no" }],
    [{ SecurityOptions: ["name=userns"] }, { chosenUsers: "any" }],
    [{ SecurityOptions: ["name=seccomp,profile=default", "name=rootless"] }, { chosenUsers: "ordinary" }],
    [{ SecurityOptions: ["name=userns"], DefaultRuntime: "runsc" }, { seccomp: { substitute: "gVisor's own kernel" } }],
  ])("with %j are %j", (change, expected) => {
    expect(engineCapabilities({ ...able, ...change }, near)).toMatchObject(expected);
  });

  it.each(["runsc", "kata"])("with %s have no users of a caller's choice", (ociRuntime) => {
    const info = {
      ...able,
      SecurityOptions: ["name=userns"],
      Runtimes: { runsc: { path: "/usr/bin/runsc" }, kata: {} },
    };
    expect(engineCapabilities(info, near)).toHaveProperty("chosenUsers");
    expect(engineCapabilities(info, { ...near, ociRuntime })).not.toHaveProperty("chosenUsers");
  });

  it("of an engine elsewhere lack the files of this machine", () => {
    expect(engineCapabilities(able, { sharesFiles: false })).toMatchObject({ hostPaths: false });
  });

  it.each([{ SwapLimit: false }, { MemoryLimit: false }, { CpuCfsQuota: false }, { PidsLimit: false }])(
    "tell what can be done about limits: %j",
    (change) => {
      expect(engineCapabilities({ ...able, ...change }, near).limitsAdvice).toMatch(/swapaccount/);
      expect(engineCapabilities({ ...able, ...change, limitsAdvice: "Better." }, near).limitsAdvice).toBe("Better.");
    },
  );

  it("takes what an engine does not tell for missing", () => {
    expect(engineCapabilities({}, near)).toMatchObject({
      seccomp: "no",
      memoryLimit: "no",
      cpuLimit: "no",
      pidsLimit: "no",
    });
  });

  it("with another kernel in between name what stands in for the host's", () => {
    const info = { ...able, Runtimes: { runc: {}, runsc: { path: "/usr/bin/runsc" }, kata: {} } };
    expect(engineCapabilities(info, { ...near, ociRuntime: "runc" })).toEqual(engineCapabilities(able, near));
    expect(engineCapabilities(info, { ...near, ociRuntime: "runsc" })).toMatchObject({
      isolation: "container",
      seccomp: { substitute: "gVisor's own kernel" },
      pidsLimit: { substitute: "`--ulimit nproc` inside gVisor" },
      memoryLimit: "yes",
      oomReporting: false,
    });
    expect(engineCapabilities(info, { ...near, ociRuntime: "kata" })).toMatchObject({
      isolation: "vm",
      noNewPrivileges: { substitute: "the boundary of a virtual machine" },
    });
    expect(engineCapabilities({ ...info, DefaultRuntime: "runsc" }, near)).toMatchObject({ oomReporting: false });
  });
});
