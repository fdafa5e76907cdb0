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
      supervisorVolume: "program",
      ownFiles: [],
      wording: {
        seccompOption: (profile) => `seccomp=${JSON.stringify(profile)}`,
        tmpfsOptions: ({ sizeBytes }) => `size=${sizeBytes}`,
        hiddenVolumeOptions: "hidden",
      },
    },
  ) as Config;
}

/** The supervisor's volume. */
const program = {
  Type: "volume",
  Source: "program",
  Target: "/.glovebox",
  ReadOnly: true,
  VolumeOptions: { NoCopy: true },
};

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
      Mounts: [program, volume("rbind"), volume("bind,ro"), bind],
    });
    expect(configOf({ mounts }).HostConfig).toMatchObject({ Mounts: [program, bind, bind, bind] });
  });

  it("seals whatever the spec says", () => {
    for (const changes of [{}, { command: ["true"] }]) {
      expect(configOf(changes).HostConfig).toMatchObject({
        Privileged: false,
        CapAdd: ["SETPCAP", "SETUID", "SETGID", "KILL"],
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges", 'seccomp={"defaultAction":"SCMP_ACT_ERRNO"}'],
        ReadonlyRootfs: true,
        NetworkMode: "none",
        IpcMode: "private",
        PidMode: "",
        Init: false,
        LogConfig: { Type: "none" },
        RestartPolicy: { Name: "no" },
      });
    }
  });

  it("leaves the engine's read-only paths, devices and binds alone", () => {
    const { HostConfig } = configOf();
    for (const name of ["ReadonlyPaths", "Devices", "Binds", "UsernsMode"]) {
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
      PidsLimit: 67,
      Ulimits: [
        { Name: "nofile", Soft: 4_096, Hard: 4_096 },
        { Name: "core", Soft: 0, Hard: 0 },
        { Name: "sigpending", Soft: 1_024, Hard: 1_024 },
        { Name: "msgqueue", Soft: 262_144, Hard: 262_144 },
        { Name: "memlock", Soft: 65_536, Hard: 65_536 },
      ],
    });
    expect(configOf({ limits: { ...spec.limits, cpus: 1.1, openFiles: 100 } }).HostConfig).toMatchObject({
      NanoCpus: 1_100_000_000,
      Ulimits: [{ Name: "nofile", Soft: 100, Hard: 100 }, {}, {}, {}, {}],
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

  it.each([{}, { command: ["cat", "-u"], processUser: "7:8" }])(
    "begins with the supervisor and nothing else (%o)",
    (more) => {
      const config = configOf({ environment: { SECRET: "1" }, workingDirectory: "/work", ...more });
      expect(config).toMatchObject({
        Entrypoint: ["/.glovebox/supervisor"],
        Cmd: [],
        Env: [],
        User: "0:0",
        WorkingDir: "/",
        AttachStdin: true,
        OpenStdin: true,
        StdinOnce: true,
        Tty: false,
      });
      // One with a command is kept for its state; the other is gone with its server.
      expect(config.HostConfig).toMatchObject({
        ...{ AutoRemove: !("command" in more), Tmpfs: { "/work": "size=8388608" }, Mounts: [program] },
      });
    },
  );

  it("gives the supervisor what installers have where they have it", () => {
    const capabilities = ["SETPCAP", "SETUID", "SETGID", "KILL", "CHOWN"];
    expect(configOf({ rootCapabilities: ["CHOWN", "SETUID"] }).HostConfig["CapAdd"]).toEqual(capabilities);
  });

  it("lets nothing of the image run or open: entry point, health check, signal, volumes", () => {
    const config = configOf({}, ["/data", "/work"]);
    expect(config).toMatchObject({ Healthcheck: { Test: ["NONE"] }, StopSignal: "SIGTERM" });
    expect(config.HostConfig["Tmpfs"]).toEqual({ "/data": "hidden", "/work": "size=8388608" });
  });

  it("binds what it is told to, where an image may have a volume, and nothing else", () => {
    const mounts = [
      { source: "/a", target: "/data", readOnly: true },
      { source: "/b", target: "/out", readOnly: false },
    ];
    const { HostConfig } = configOf({ mounts }, ["/data"]);
    expect(HostConfig["Mounts"]).toEqual([
      program,
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
    expect(HostConfig["Ulimits"]).toContainEqual({ Name: "nproc", Soft: 63, Hard: 63 });
    expect(HostConfig["PidsLimit"]).toBe(1536);
    expect(HostConfig["Tmpfs"]).toMatchObject({ "/tmp": "hidden" });
    const own = configOf({ scratch: [{ path: "/tmp", sizeBytes: 4096 }] }, [], "gvisor");
    expect(own.HostConfig["Tmpfs"]).toEqual({ "/tmp": "size=4096" });
  });
});

function bind(source: string, target: string, more: object): object {
  return { Type: "bind", Source: source, Target: target, ...more };
}
