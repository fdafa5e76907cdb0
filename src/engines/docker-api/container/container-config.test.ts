import { describe, expect, it } from "vitest";
import type { ContainerSpec } from "../../container-spec.ts";
import { containerConfig } from "./container-config.ts";
import type { RuntimeKind } from "../oci-runtime.ts";

const mebibyte = 1_048_576;

const spec: ContainerSpec = {
  name: "box",
  image: "base:1",
  labels: { "glovebox.owner": "me" },
  limits: { cpus: 0.5, memoryBytes: 256 * mebibyte, pids: 64 },
  scratch: [{ path: "/work", sizeBytes: 8 * mebibyte }],
};

interface Config {
  readonly HostConfig: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}

function configOf(
  changes: Partial<ContainerSpec> = {},
  imageVolumes: readonly string[] = [],
  runtimeKind: RuntimeKind = "namespaces",
  mountsByHandle = false,
): Config {
  return containerConfig(
    { ...spec, ...changes },
    {
      seccompProfile: { defaultAction: "SCMP_ACT_ERRNO" },
      mountsByHandle,
      image: { id: "sha256:1", volumes: imageVolumes },
      runtimeKind,
      wording: {
        seccompOption: (profile) => `seccomp=${JSON.stringify(profile)}`,
        tmpfsOptions: ({ sizeBytes }, owner) => `size=${sizeBytes},owner=${owner}`,
        hiddenVolumeOptions: "hidden",
      },
    },
  ) as Config;
}

describe("containerConfig", () => {
  it("mounts what is held open, where the engine can, and names otherwise", () => {
    const identity = { device: 1n, inode: 2n, heldAt: "/proc/7/fd/9", place: null };
    const mount = { source: "/shop", target: "/workdir", readOnly: false };
    const mounts = [
      { ...mount, identity },
      { ...mount, target: "/ro", readOnly: true, identity },
      { ...mount, target: "/plain" },
    ];
    const volume = (o: string): object => ({
      Type: "volume",
      VolumeOptions: {
        NoCopy: true,
        DriverConfig: { Name: "local", Options: { type: "none", o, device: "/proc/7/fd/9" } },
      },
    });
    const bind = { Type: "bind", Source: "/shop" };
    expect(configOf({ mounts }, [], "namespaces", true).HostConfig).toMatchObject({
      Mounts: [volume("rbind"), volume("bind,ro"), bind],
    });
    expect(configOf({ mounts }).HostConfig).toMatchObject({ Mounts: [bind, bind, bind] });
  });

  it("seals whatever the spec says", () => {
    for (const changes of [{}, { command: ["true"] }]) {
      expect(configOf(changes).HostConfig).toMatchObject({
        Privileged: false,
        CapAdd: [],
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges", 'seccomp={"defaultAction":"SCMP_ACT_ERRNO"}'],
        ReadonlyRootfs: true,
        NetworkMode: "none",
        IpcMode: "private",
        PidMode: "",
        Init: true,
        LogConfig: { Type: "none" },
        RestartPolicy: { Name: "no" },
      });
    }
  });

  it("leaves the engine's read-only paths, devices and binds alone", () => {
    const { HostConfig } = configOf();
    for (const name of ["ReadonlyPaths", "Devices", "Binds", "Mounts", "UsernsMode"]) {
      expect(HostConfig).not.toHaveProperty(name);
    }
  });

  it("covers what tells of the host, and names no server of its to look names up at", () => {
    expect(configOf().HostConfig).toMatchObject({
      MaskedPaths: expect.arrayContaining(["/proc/kcore", "/proc/interrupts", "/sys/firmware"]) as unknown,
      Dns: ["127.0.0.1"],
      DnsSearch: ["."],
    });
  });

  it("turns limits into the engine's units, without swap and without core files", () => {
    expect(configOf().HostConfig).toMatchObject({
      Memory: 268_435_456,
      MemorySwap: 268_435_456,
      NanoCpus: 500_000_000,
      PidsLimit: 64,
      Ulimits: [
        { Name: "nofile", Soft: 16_384, Hard: 16_384 },
        { Name: "core", Soft: 0, Hard: 0 },
      ],
    });
    expect(configOf({ limits: { ...spec.limits, cpus: 1.1, openFiles: 100 } }).HostConfig).toMatchObject({
      NanoCpus: 1_100_000_000,
      Ulimits: [{ Name: "nofile", Soft: 100, Hard: 100 }, {}],
    });
  });

  it.each([
    [1024, 64],
    [512, 64],
    [256, 32],
    [8, 1],
  ])("with %d MiB of memory gives /dev/shm %d MiB", (memory, shared) => {
    const limits = { ...spec.limits, memoryBytes: memory * mebibyte };
    expect(configOf({ limits }).HostConfig["ShmSize"]).toBe(shared * mebibyte);
  });

  it("gives /dev/shm the size that was asked for", () => {
    expect(configOf({ sharedMemoryBytes: 5 }).HostConfig["ShmSize"]).toBe(5);
  });

  it("without a command runs the keeper as root, which takes the container away when its input ends", () => {
    const config = configOf({ environment: { SECRET: "1" }, workingDirectory: "/work" });
    expect(config).toMatchObject({
      Entrypoint: ["sh", "-c", expect.stringContaining("while"), "keeper", "/work"],
      Cmd: [],
      Env: [],
      User: "0:0",
      WorkingDir: "/",
      AttachStdin: true,
      OpenStdin: true,
      StdinOnce: true,
      Tty: false,
    });
    expect(config.HostConfig).toMatchObject({ AutoRemove: true, Tmpfs: { "/work": "size=8388608,owner=null" } });
  });

  it("runs a command of its own as the program's user, and keeps the container for its state", () => {
    const config = configOf({
      command: ["cat", "-u"],
      environment: { A: "1", B: "x=y\n" },
      workingDirectory: "/work",
      processUser: "7:8",
    });
    expect(config).toMatchObject({
      Entrypoint: ["cat", "-u"],
      Cmd: [],
      Env: ["A=1", "B=x=y\n"],
      User: "7:8",
      WorkingDir: "/work",
      OpenStdin: true,
      StdinOnce: true,
    });
    expect(config.HostConfig).toMatchObject({ AutoRemove: false, Tmpfs: { "/work": "size=8388608,owner=7:8" } });
  });

  it("runs a command of its own as 1000:1000 in / when nothing is said", () => {
    expect(configOf({ command: ["true"] })).toMatchObject({ User: "1000:1000", WorkingDir: "/", Env: [] });
  });

  it("lets nothing of the image run or open: entry point, health check, signal, volumes", () => {
    const config = configOf({}, ["/data", "/work"]);
    expect(config).toMatchObject({ Healthcheck: { Test: ["NONE"] }, StopSignal: "SIGTERM" });
    expect(config.HostConfig["Tmpfs"]).toEqual({ "/data": "hidden", "/work": "size=8388608,owner=null" });
  });

  it("binds what it is told to, where an image may have a volume, and nothing else", () => {
    const mounts = [
      { source: "/a", target: "/data", readOnly: true },
      { source: "/b", target: "/out", readOnly: false },
    ];
    const { HostConfig } = configOf({ mounts }, ["/data"]);
    expect(HostConfig["Mounts"]).toEqual([
      bind("/a", "/data", { ReadOnly: true, BindOptions: { Propagation: "rprivate", NonRecursive: true } }),
      bind("/b", "/out", { ReadOnly: false, BindOptions: { Propagation: "rprivate", NonRecursive: false } }),
    ]);
    expect(HostConfig["Tmpfs"]).not.toHaveProperty("/data");
  });

  it("passes labels on and tells the container nothing of its name", () => {
    expect(configOf()).toMatchObject({ Labels: { "glovebox.owner": "me" }, Image: "sha256:1", Hostname: "sandbox" });
  });

  it("names a runtime only when it is chosen", () => {
    expect(configOf().HostConfig).not.toHaveProperty("Runtime");
    expect(configOf({ ociRuntime: "runsc" }).HostConfig).toHaveProperty("Runtime", "runsc");
  });

  it("lets gVisor count processes itself, and hides the folder that it would open", () => {
    const { HostConfig } = configOf({}, [], "gvisor");
    expect(HostConfig["Ulimits"]).toContainEqual({ Name: "nproc", Soft: 64, Hard: 64 });
    expect(HostConfig["PidsLimit"]).toBe(1536);
    expect(HostConfig["Tmpfs"]).toMatchObject({ "/tmp": "hidden" });
    const own = configOf({ scratch: [{ path: "/tmp", sizeBytes: 4096 }] }, [], "gvisor");
    expect(own.HostConfig["Tmpfs"]).toEqual({ "/tmp": "size=4096,owner=null" });
  });
});

function bind(source: string, target: string, more: object): object {
  return { Type: "bind", Source: source, Target: target, ...more };
}
