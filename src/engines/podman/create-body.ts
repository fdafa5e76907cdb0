import type { ContainerSpec, MountSpec } from "../container-spec.ts";
import { coveredProcPaths, coveredSysPaths } from "../covered-paths.ts";
import { openFilesOf, sharedMemoryBytesOf } from "../docker-api/container/container-defaults.ts";
import { containerHostname } from "../docker-api/mounts/supervisor-volume.ts";
import { supervisorCapabilities } from "../supervised/container/apart-terms.ts";
import { supervisorFolder, supervisorPath } from "../supervised/supervisor-binary.ts";
import type { OwnFile } from "../user-names.ts";
import { userLimits } from "../user-limits.ts";
import type { RuntimeKind } from "../docker-api/oci-runtime.ts";
import { pathInMachine } from "./path-in-machine.ts";
import { hostProcesses, ownFolders, processesOfUser } from "../docker-api/runtime-needs.ts";

export interface CreateBodyOptions {
  /** Path of the seccomp profile on the service's host. */
  readonly seccompPath: string;
  /** Id of the image: a name could lead to another image than the one that was found. */
  readonly imageId: string;
  /** Whether the service runs without root. */
  readonly isRootless: boolean;
  /** Of the service's own runtime: it takes no other. */
  readonly runtimeKind: RuntimeKind;
  /** Of the machine that mounts are paths of. */
  readonly platform: NodeJS.Platform;
  /** Id of a container whose volumes stand in for the mounts. */
  readonly volumesFrom?: string | undefined;
  /** Name of the volume with the supervisor. */
  readonly supervisorVolume: string;
  /** Files of it that have a place of their own; without one for the hosts Podman would copy the machine's. */
  readonly ownFiles: readonly OwnFile[];
}

/** SIGTERM; Podman's own interface takes numbers. */
const terminate = 15;

const cpuPeriodUs = 100_000;

/**
 * As many as the default kernel has process numbers. Podman would raise the limit to a million and fail where it may
 * not; without root it keeps to its own limit. The limit that counts is that of the container's control group.
 */
const processesPerUser = 32_768;

/**
 * Body of the call that creates a container in Podman's own interface. Docker's would add writable folders without a
 * size, pass the service's proxy settings on, and know no way to leave out the image's volumes.
 * What is switched off by name here is on by default, or is where the service's configuration says so.
 */
export function createBody(spec: ContainerSpec, options: CreateBodyOptions): object {
  const { limits } = spec;
  const { volumesFrom } = options;
  const openFiles = openFilesOf(spec);
  return {
    name: spec.name,
    image: options.imageId,
    raw_image_name: spec.image,
    // As the entry point, so that neither the image's entry point nor its command has a part in it.
    entrypoint: [supervisorPath],
    command: [],
    // Each program is told its own.
    env: {},
    env_host: false,
    httpproxy: false,
    work_dir: "/",
    user: "0:0",
    labels: spec.labels,
    hostname: containerHostname,
    terminal: false,
    // It ends with the connection of whoever attached first.
    stdin: true,
    remove: spec.command === undefined,
    init: false,
    systemd: "false",
    sdnotifyMode: "ignore",
    stop_signal: terminate,
    // Force removal would else wait for the program after a signal.
    stop_timeout: 0,
    restart_policy: "no",
    healthconfig: { Test: ["NONE"] },
    // Output comes from the attached streams; a log would fill the host's disk.
    log_configuration: { driver: "none" },
    ...sealing(spec, options.seccompPath),
    // Of its own network namespace, as with Docker: the supervisor refuses names at port 53 there. gVisor has no such setting.
    ...(options.runtimeKind === "namespaces" ? { sysctl: { "net.ipv4.ip_unprivileged_port_start": "0" } } : {}),
    resource_limits: {
      memory: { limit: limits.memoryBytes, swap: limits.memoryBytes },
      cpu: { period: cpuPeriodUs, quota: Math.max(1_000, Math.round(limits.cpus * cpuPeriodUs)) },
      pids: { limit: hostProcesses(limits.pids, options.runtimeKind) },
    },
    r_limits: [
      { type: "nofile", soft: openFiles, hard: openFiles },
      { type: "core", soft: 0, hard: 0 },
      ...(options.runtimeKind === "namespaces" ? userLimits : []).map(({ name, value }) => ({
        type: name,
        soft: value,
        hard: value,
      })),
      ...userProcesses(limits.pids, options),
    ],
    shm_size: sharedMemoryBytesOf(spec),
    mounts: [
      ...ownFolders[options.runtimeKind]
        .filter((path) => spec.scratch.every((scratch) => scratch.path !== path))
        .map((path) => tmpfs(path, ["ro", "noexec", "nosuid", "nodev", "size=4096"])),
      ...spec.scratch.map(({ path, sizeBytes }) =>
        tmpfs(path, ["rw", "exec", "nosuid", "nodev", "notmpcopyup", "mode=1777", `size=${sizeBytes}`]),
      ),
      ...options.ownFiles.map((file) => bindMount({ ...file, readOnly: true }, "linux")),
      ...(volumesFrom === undefined ? (spec.mounts ?? []) : []).map((mount) => bindMount(mount, options.platform)),
    ],
    volumes: [{ Name: options.supervisorVolume, Dest: supervisorFolder, Options: ["ro", "nocopy", "nosuid", "nodev"] }],
    ...(volumesFrom === undefined ? {} : { volumes_from: [`${volumesFrom}:ro`] }),
  };
}

function tmpfs(destination: string, options: readonly string[]): object {
  return { type: "tmpfs", source: "tmpfs", destination, options };
}

/** What is mounted below would stay writable, so of a read-only folder it is left out. */
function bindMount({ source, target, readOnly }: MountSpec, platform: NodeJS.Platform): object {
  const options = [...(readOnly ? ["bind", "ro"] : ["rbind", "rw"]), "nosuid", "nodev", "rprivate"];
  return { type: "bind", source: pathInMachine(source, platform), destination: target, options };
}

/** Limit of each user's processes; gVisor counts them itself, for each user inside. */
function userProcesses(pids: number, { isRootless, runtimeKind }: CreateBodyOptions): readonly object[] {
  if (runtimeKind === "gvisor") return [{ type: "nproc", soft: processesOfUser(pids), hard: processesOfUser(pids) }];
  return isRootless ? [] : [{ type: "nproc", soft: processesPerUser, hard: processesPerUser }];
}

function sealing(spec: ContainerSpec, seccompPath: string): object {
  return {
    privileged: false,
    cap_add: supervisorCapabilities(spec),
    cap_drop: ["ALL"],
    no_new_privileges: true,
    seccomp_policy: "default",
    seccomp_profile_path: seccompPath,
    read_only_filesystem: spec.writableRoot === undefined,
    // Added to Podman's own list.
    mask: [...coveredProcPaths, ...coveredSysPaths],
    // Newer versions would make /run, /tmp and /var/tmp writable without a size.
    read_write_tmpfs: false,
    // Each volume of the image would be a writable folder on the host's disk.
    image_volume_mode: "ignore",
    netns: { nsmode: "none" },
    pidns: { nsmode: "private" },
    ipcns: { nsmode: "private" },
    utsns: { nsmode: "private" },
    cgroupns: { nsmode: "private" },
  };
}
