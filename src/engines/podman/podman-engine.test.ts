import { describe, expect, it } from "vitest";
import type { ContainerSpec } from "../container-spec.ts";
import {
  createBody,
  podmanDialect,
  pathInMachine,
  correctInfo,
  readRegistryCredentials,
  type CreateBodyOptions,
  type PodmanInfo,
} from "./podman-engine.ts";
import type { CreateCircumstances } from "../docker-api/dialect.ts";
import { engineComponents, engineCapabilities } from "../docker-api/engine-capabilities.ts";

const mebibyte = 1_048_576;

const spec: ContainerSpec = {
  name: "box",
  image: "base:1",
  labels: { "glovebox.owner": "me" },
  limits: { cpus: 0.5, memoryBytes: 256 * mebibyte, pids: 64 },
  scratch: [{ path: "/work", sizeBytes: 8 * mebibyte }],
};

interface Body {
  readonly mounts: readonly { readonly destination: string; readonly options: readonly string[] }[];
  readonly r_limits: readonly object[];
}

function bodyOf(changes: Partial<ContainerSpec> = {}, options: Partial<CreateBodyOptions> = {}): Body {
  const given: CreateBodyOptions = {
    seccompPath: "/profile.json",
    imageId: "sha256:1",
    isRootless: false,
    runtimeKind: "namespaces",
    platform: "linux",
    supervisorVolume: "program",
    ownFiles: [],
  };
  return createBody({ ...spec, ...changes }, { ...given, ...options }) as Body;
}

describe("createBody", () => {
  it("seals whatever the spec says, also against what Podman does by default", () => {
    for (const changes of [{}, { command: ["true"], environment: { A: "1" } }]) {
      expect(bodyOf(changes)).toMatchObject({
        image: "sha256:1",
        privileged: false,
        cap_add: ["SETPCAP", "SETUID", "SETGID", "KILL"],
        cap_drop: ["ALL"],
        no_new_privileges: true,
        seccomp_profile_path: "/profile.json",
        read_only_filesystem: true,
        read_write_tmpfs: false,
        image_volume_mode: "ignore",
        env_host: false,
        httpproxy: false,
        systemd: "false",
        sdnotifyMode: "ignore",
        netns: { nsmode: "none" },
        sysctl: { "net.ipv4.ip_unprivileged_port_start": "0" },
        pidns: { nsmode: "private" },
        ipcns: { nsmode: "private" },
        mask: expect.arrayContaining(["/proc/interrupts", "/sys/firmware"]) as unknown,
        init: false,
        log_configuration: { driver: "none" },
      });
    }
  });

  it("opens low ports inside where the kernel is Linux's own", () => {
    expect(bodyOf({}, { runtimeKind: "gvisor" })).not.toHaveProperty("sysctl");
  });

  it.each([{}, { command: ["a", "b"], processUser: "7:8" }])(
    "begins with the supervisor and nothing else (%o)",
    (more) => {
      const body = bodyOf({ environment: { SECRET: "x" }, workingDirectory: "/work", ...more });
      expect(body).toMatchObject({
        ...{ entrypoint: ["/.glovebox/supervisor"], command: [], user: "0:0", env: {}, work_dir: "/", stdin: true },
        volumes: [{ Name: "program", Dest: "/.glovebox", Options: ["ro", "nocopy", "nosuid", "nodev"] }],
        // One with a command is kept for its state.
        remove: !("command" in more),
      });
    },
  );

  it("limits memory without swap, CPU, processes, files and shared memory", () => {
    const body = bodyOf({ limits: { ...spec.limits, openFiles: 99 } });
    expect(body).toMatchObject({
      resource_limits: {
        memory: { limit: 256 * mebibyte, swap: 256 * mebibyte },
        cpu: { period: 100_000, quota: 50_000 },
        pids: { limit: 67 },
      },
      shm_size: 32 * mebibyte,
    });
    expect(body.r_limits).toContainEqual({ type: "nofile", soft: 99, hard: 99 });
    expect(body.r_limits).toContainEqual({ type: "core", soft: 0, hard: 0 });
  });

  it("says how many processes a user may have only where Podman would ask for too many", () => {
    const nproc = expect.objectContaining({ type: "nproc" });
    expect(bodyOf().r_limits).toContainEqual(nproc);
    expect(bodyOf({}, { isRootless: true }).r_limits).not.toContainEqual(nproc);
  });

  it("mounts scratch for everyone, sized, and nothing else", () => {
    expect(bodyOf().mounts).toEqual([
      {
        type: "tmpfs",
        source: "tmpfs",
        destination: "/work",
        options: ["rw", "exec", "nosuid", "nodev", "notmpcopyup", "mode=1777", `size=${8 * mebibyte}`],
      },
    ]);
  });

  it("binds a folder of Windows by its path in the machine", () => {
    const { mounts } = bodyOf(
      { mounts: [{ source: "C:\\Users\\me\\project", target: "/workdir", readOnly: false }] },
      { platform: "win32" },
    );
    expect(mounts.at(-1)).toMatchObject({ source: "/mnt/c/Users/me/project", destination: "/workdir" });
  });

  it("binds what it is told to, never with setuid or devices", () => {
    const mounts = [
      { source: "/a", target: "/in", readOnly: true },
      { source: "/b", target: "/out", readOnly: false },
    ];
    const harmless = ["nosuid", "nodev", "rprivate"];
    expect(bodyOf({ mounts }).mounts.slice(1)).toEqual([
      { type: "bind", source: "/a", destination: "/in", options: ["bind", "ro", ...harmless] },
      { type: "bind", source: "/b", destination: "/out", options: ["rbind", "rw", ...harmless] },
    ]);
  });

  it("lets gVisor count processes itself, and hides the folder that it would open", () => {
    const body = bodyOf({}, { runtimeKind: "gvisor" });
    expect(body.r_limits).toContainEqual({ type: "nproc", soft: 63, hard: 63 });
    expect(body).toMatchObject({ resource_limits: { pids: { limit: 1536 } } });
    expect(body.mounts).toContainEqual(
      expect.objectContaining({ destination: "/tmp", options: expect.arrayContaining(["ro"]) }),
    );
    const own = bodyOf({ scratch: [{ path: "/tmp", sizeBytes: 4096 }] }, { runtimeKind: "gvisor" });
    expect(own.mounts).toHaveLength(1);
  });
});

const dialect = podmanDialect({ shareProfile: () => Promise.resolve("/profile.json"), platform: "linux" });
const connectionHere = { kind: "socket", tls: null, remote: false, origin: "CONTAINER_HOST" } as const;
const podman = (version: string): object => ({
  Os: "linux",
  Components: [{ Name: "Podman Engine", Version: version }],
});

describe("podmanDialect", () => {
  it("takes Podman 4 and newer for itself, and tells its own version", () => {
    expect(dialect.foreignness(podman("4.3.1"))).toBeNull();
    expect(dialect.foreignness(podman("5.0.0-dev"))).toBeNull();
    expect(dialect.version({ ...podman("4.3.1"), Version: "1.41" })).toBe("4.3.1");
  });

  it("tells its version and its parts from its own account, and asks for no other", async () => {
    const asked: string[] = [];
    const own = {
      host: {
        conmon: { version: "conmon version 2.1.6, commit: unknown" },
        ociRuntime: { name: "crun", version: "crun version 1.8.1" },
      },
      version: { Version: "4.3.1" },
    };
    const describe = <T extends object>(path: string): Promise<T> => {
      asked.push(path);
      return Promise.resolve((path.includes("libpod") ? own : { DockerRootDir: "/r" }) as T);
    };
    const { version, machine } = await dialect.examine(describe, connectionHere);
    expect(asked).toEqual(["/info", "/v4.0.0/libpod/info"]);
    expect([dialect.foreignness(version), dialect.version(version)]).toEqual([null, "4.3.1"]);
    expect(engineComponents(version)).toEqual([
      { name: "Podman Engine", version: "4.3.1" },
      { name: "Conmon", version: "2.1.6" },
      { name: "crun", version: "1.8.1" },
    ]);
    expect(machine.DockerRootDir).toBe("/r");
  });

  it.each([
    ["Docker, which has no such account", { Components: [{ Name: "Engine" }] }, "What answers on Podman's endpoint"],
    ["an old Podman", podman("3.4.4"), "3.4.4"],
    ["a Podman that fails at it", podman("5.1.0"), "no answer"],
  ])("names %s", async (_, version, reason) => {
    const describe = <T extends object>(path: string): Promise<T> =>
      path === "/version" ? Promise.resolve(version as T) : Promise.reject(new Error("no answer"));
    await expect(dialect.examine(describe, connectionHere)).rejects.toThrow(reason);
  });

  it.each([
    ["an older one", podman("3.4.4"), "3.4.4"],
    ["Docker", { Os: "linux", Components: [{ Name: "Engine" }] }, "not Podman"],
    ["what tells no parts", {}, "not Podman"],
  ])("refuses %s", (_, answer, word) => {
    expect(dialect.foreignness(answer)?.reason).toContain(word);
  });

  it("refuses a service that the profile cannot be handed to", async () => {
    const connection = { kind: "tcp", tls: null, remote: true, origin: "CONTAINER_HOST" } as const;
    const circumstances: CreateCircumstances = {
      seccompProfile: {},
      mountsByHandle: false,
      runtimeKind: "namespaces",
      image: { id: "1", volumes: [], environment: {}, programUid: null, labels: {} },
      supervisorVolume: "program",
      ownFiles: [],
      setup: { connection },
    };
    const spec = { name: "a", image: "b", labels: {}, limits: { cpus: 1, memoryBytes: 1, pids: 1 }, scratch: [] };
    await expect(dialect.createCall(spec, circumstances)).rejects.toMatchObject({
      errorType: "UNSUPPORTED",
      message: expect.stringContaining("seccomp"),
    });
    const here = { ...circumstances, setup: { connection: { ...connection, remote: false } } };
    expect(await dialect.createCall(spec, here)).toMatchObject({
      path: "/v4.0.0/libpod/containers/create",
      body: { name: "a", seccomp_profile_path: "/profile.json" },
    });
  });

  it("offers no runtime but the service's own", () => {
    expect(dialect.runtimes({ DefaultRuntime: "crun", Runtimes: { crun: {}, runsc: {} } })).toEqual(["crun"]);
  });

  it.each([
    [409, "", true],
    [500, "can only kill running containers: container state improper", true],
    [500, "disk full", false],
  ])("reads %i %j", (status, reason, expected) => {
    expect(dialect.isNotRunning(status, reason)).toBe(expected);
  });
});

describe("pathInMachine", () => {
  it("is the path itself but on Windows", () => {
    expect(pathInMachine("/home/me/x.json", "linux")).toBe("/home/me/x.json");
    expect(pathInMachine("C:\\Users\\me\\x.json", "win32")).toBe("/mnt/c/Users/me/x.json");
  });
});

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

const files = {
  "/run/user/7/containers/auth.json": "runtime",
  "/home/me/.config/containers/auth.json": "config",
  "/home/me/.docker/config.json": "docker",
  "/chosen.json": "chosen",
};

function read(environment: Record<string, string>, present: readonly string[]): Promise<string | null> {
  return readRegistryCredentials(
    { HOME: "/home/me", ...environment },
    { read: (path) => Promise.resolve(present.includes(path) ? files[path as keyof typeof files] : null) },
  );
}

it("reads the file that Podman's own client would", async () => {
  const [runtime = "", config = "", docker = "", chosen = ""] = Object.keys(files);
  const login = { XDG_RUNTIME_DIR: "/run/user/7" };
  expect(await read(login, [runtime, config, docker])).toBe("runtime");
  expect(await read({}, [runtime, config, docker])).toBe("config");
  expect(await read(login, [docker])).toBe("docker");
  expect(await read({ ...login, REGISTRY_AUTH_FILE: chosen }, [runtime, chosen])).toBe("chosen");
  expect(await read({ REGISTRY_AUTH_FILE: "/absent" }, [runtime, config])).toBeNull();
});
