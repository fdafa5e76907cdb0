import { describe, expect, it } from "vitest";
import { engineCapabilities, engineComponents, engineSetup } from "./engine-capabilities.ts";
import type { Endpoint } from "./http/endpoint.ts";

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

const socket: Endpoint = { kind: "socket", path: "/run/d.sock", origin: "the default socket" };
const tcp = (host: string, tls: { readonly verify: boolean } | null): Endpoint => ({
  kind: "tcp",
  host,
  port: 2375,
  tls,
  origin: "DOCKER_HOST",
});

describe("engineComponents", () => {
  it("names Docker's parts, with the package's revision where it is told", () => {
    const Components = [
      { Name: "Engine", Version: "20.10.24+dfsg1", Details: { GitCommit: "5d6db84" } },
      { Name: "runc", Version: "1.1.5+ds1", Details: { GitCommit: "1.1.5+ds1-1+deb12u1" } },
      { Name: "containerd", Version: "v1.7.27", Details: null },
      { Name: "docker-init", Version: "0.19.0", Details: { GitCommit: "" } },
      { Name: "odd", Version: "unknown" },
    ];
    expect(engineComponents({ Components })).toEqual([
      { name: "Docker Engine", version: "20.10.24+dfsg1", build: "5d6db84" },
      { name: "runc", version: "1.1.5+ds1", build: "1.1.5+ds1-1+deb12u1" },
      { name: "containerd", version: "1.7.27" },
      { name: "docker-init", version: "0.19.0" },
    ]);
  });

  it("reads what Podman says of its runtime", () => {
    const Components = [
      { Name: "Podman Engine", Version: "4.3.1", Details: { GitCommit: "" } },
      { Name: "Conmon", Version: "conmon version 2.1.6, commit: unknown" },
      { Name: "OCI Runtime (runc)", Version: "runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1\nspec: 1.0.2-dev" },
      { Name: "OCI Runtime (crun)", Version: "crun version 1.8.1\ncommit: f8a096b\nspec: 1.0.0" },
    ];
    expect(engineComponents({ Components })).toEqual([
      { name: "Podman Engine", version: "4.3.1" },
      { name: "Conmon", version: "2.1.6" },
      { name: "runc", version: "1.1.5+ds1", build: "1.1.5+ds1-1+deb12u1" },
      { name: "crun", version: "1.8.1", build: "f8a096b" },
    ]);
  });

  it("tells Docker Desktop by its platform, and does without an account of parts", () => {
    expect(engineComponents({ Platform: { Name: "Docker Desktop 4.38.0 (181591)" }, Components: null })).toEqual([
      { name: "Docker Desktop", version: "4.38.0" },
    ]);
    expect(engineComponents({ Platform: { Name: "Docker Engine - Community" } })).toEqual([]);
  });
});

describe("engineSetup", () => {
  it.each([
    [["name=seccomp,profile=default"], "root", []],
    [["name=apparmor", "name=seccomp,profile=builtin", "name=userns"], "remapped", ["apparmor"]],
    [["name=seccomp,profile=default", "name=rootless", "name=selinux", "name=cgroupns"], "rootless", ["selinux"]],
    [null, "root", []],
  ])("of security options %j", (SecurityOptions, containerRoot, accessControl) => {
    expect(engineSetup({ SecurityOptions }, socket)).toMatchObject({ containerRoot, accessControl });
  });

  it("keeps the kernel and the plugins that decide over requests", () => {
    const info = { KernelVersion: "6.1.0", Plugins: { Authorization: ["opa"] } };
    expect(engineSetup(info, socket)).toMatchObject({ kernel: "6.1.0", authorizationPlugins: ["opa"] });
    expect(engineSetup({ KernelVersion: "", Plugins: { Authorization: null } }, socket)).toEqual({
      connection: { kind: "socket", tls: null, remote: false, origin: "the default socket" },
      containerRoot: "root",
      accessControl: [],
      authorizationPlugins: [],
      openAddresses: [],
    });
  });

  it("finds where else the API is open in the engine's own warnings", () => {
    const Warnings = [
      "WARNING: No swap limit support",
      "WARNING: API is accessible on http://0.0.0.0:2375 without encryption.\n         Access to the remote API is ...",
      "[DEPRECATION NOTICE]: API is accessible on https://10.0.0.1:2376 without TLS client verification.\n ...",
    ];
    const openAddresses = ["http://0.0.0.0:2375", "https://10.0.0.1:2376"];
    expect(engineSetup({ Warnings }, socket)).toMatchObject({ openAddresses });
    expect(engineSetup({ Warnings: null }, socket)).toMatchObject({ openAddresses: [] });
  });

  it.each([
    [tcp("10.0.0.1", null), { tls: null, remote: true }],
    [tcp("localhost", null), { tls: null, remote: false }],
    [tcp("127.0.0.1", { verify: true }), { tls: "verified", remote: false }],
    [tcp("::1", { verify: false }), { tls: "unverified", remote: false }],
    [tcp("127.example.org", null), { tls: null, remote: true }],
  ])("tells how the engine is reached: %j", (endpoint, expected) => {
    expect(engineSetup({}, endpoint).connection).toMatchObject({ kind: "tcp", origin: "DOCKER_HOST", ...expected });
  });

  it("takes what an alias of ssh names for another machine", () => {
    const endpoint = { kind: "ssh", host: "localhost", origin: "DOCKER_HOST" } as const;
    expect(engineSetup({}, endpoint).connection).toEqual({
      ...{ kind: "ssh", tls: null, remote: true },
      origin: "DOCKER_HOST",
    });
  });
});
