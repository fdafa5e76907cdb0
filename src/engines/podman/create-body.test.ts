import { describe, expect, it } from "vitest";
import type { ContainerSpec } from "../container-spec.ts";
import { createBody, type CreateBodyOptions } from "./create-body.ts";

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
