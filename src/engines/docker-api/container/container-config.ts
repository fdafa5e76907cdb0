import { mebibyte } from "../../../base/bytes.ts";
import { defaultOpenFiles, type ContainerSpec, type MountSpec, type ScratchSpec } from "../../container-spec.ts";
import { coveredProcPaths, coveredSysPaths } from "../../covered-paths.ts";
import { supervisorFolder, supervisorPath } from "../../supervised/supervisor-binary.ts";
import { containerHostname } from "../engine-volumes.ts";
import type { ImageFacts } from "../images.ts";
import { userLimits, type OwnFile } from "../../container-users.ts";
import { hostProcesses, ownFolders, processesOfUser, type RuntimeKind } from "../oci-runtime.ts";
import { supervisorCapabilities } from "../../supervised/container/apart-terms.ts";

const defaultSharedMemoryBytes = 64 * mebibyte;

/** Open files that each process may have. */
export function openFilesOf({ limits }: ContainerSpec): number {
  return limits.openFiles ?? defaultOpenFiles;
}

/** Size of /dev/shm. */
export function sharedMemoryBytesOf({ sharedMemoryBytes, limits }: ContainerSpec): number {
  return sharedMemoryBytes ?? Math.min(defaultSharedMemoryBytes, Math.floor(limits.memoryBytes / 8));
}

interface ContainerConfigOptions {
  readonly wording: ConfigWording;
  readonly seccompProfile: object;
  /**
   * Its id, because a name could lead to another image than the one found; and the paths it declares as volumes: each
   * would be a writable folder without a limit on the host's disk.
   */
  readonly image: Pick<ImageFacts, "id" | "volumes">;
  readonly runtimeKind: RuntimeKind;
  /** Whether the engine mounts what we hold open, and not its name. */
  readonly mountsByHandle: boolean;
  /** Id of a container whose volumes stand in for the mounts. */
  readonly volumesFrom?: string | undefined;
  /** Name of the volume with the supervisor. */
  readonly supervisorVolume: string;
  /** Files of it that have a place of their own. */
  readonly ownFiles: readonly OwnFile[];
}

/** The options whose wording is an engine's own. */
export interface ConfigWording {
  /** Value of `SecurityOpt` for the profile. */
  seccompOption(profile: object): string;
  /** Options of one scratch mount, which belongs to root. */
  tmpfsOptions(scratch: ScratchSpec): string;
  /** Options of a mount that hides one of the image's volumes: empty and read-only. */
  readonly hiddenVolumeOptions: string;
}

/**
 * Body of the call that creates a container (`name` apart): its first process is the supervisor, which begins as root with what it
 * needs to give programs another user, and ends with the connection of the server that made it.
 * What is not written here stays at the engine's default; so do the read-only paths.
 */
export function containerConfig(spec: ContainerSpec, options: ContainerConfigOptions): object {
  return {
    Image: options.image.id,
    // As the entry point, so that the image's entry point and command have no part in it.
    Entrypoint: [supervisorPath],
    Cmd: [],
    // Each program is told its own.
    Env: [],
    // Engines create this folder in the image; with a mount on it, its mode would become that of the mount.
    WorkingDir: "/",
    User: "0:0",
    Labels: spec.labels,
    Hostname: containerHostname,
    Tty: false,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    StopSignal: "SIGTERM",
    // A health check of the image would run a program of its own, as the container's user.
    Healthcheck: { Test: ["NONE"] },
    HostConfig: hostConfig(spec, options),
  };
}

function hostConfig(
  spec: ContainerSpec,
  {
    wording,
    seccompProfile,
    image,
    runtimeKind,
    mountsByHandle,
    volumesFrom,
    supervisorVolume,
    ownFiles,
  }: ContainerConfigOptions,
): object {
  const { limits, mounts = [] } = spec;
  const openFiles = openFilesOf(spec);
  return {
    AutoRemove: spec.command === undefined,
    ...(spec.ociRuntime === undefined ? {} : { Runtime: spec.ociRuntime }),
    Privileged: false,
    CapAdd: supervisorCapabilities(spec),
    CapDrop: ["ALL"],
    SecurityOpt: ["no-new-privileges", wording.seccompOption(seccompProfile)],
    ReadonlyRootfs: spec.writableRoot === undefined,
    // Replaces the engine's own list, which is shorter in older engines.
    MaskedPaths: [...coveredProcPaths, ...coveredSysPaths],
    NetworkMode: "none",
    // There is nothing to resolve; without these the file names the host's servers and its domain.
    Dns: ["127.0.0.1"],
    DnsSearch: ["."],
    IpcMode: "private",
    PidMode: "",
    Init: false,
    Memory: limits.memoryBytes,
    // Memory and swap together: no swap.
    MemorySwap: limits.memoryBytes,
    NanoCpus: Math.round(limits.cpus * 1e9),
    PidsLimit: hostProcesses(limits.pids, runtimeKind),
    Ulimits: [
      { Name: "nofile", Soft: openFiles, Hard: openFiles },
      { Name: "core", Soft: 0, Hard: 0 },
      ...(runtimeKind === "namespaces" ? userLimits : []).map(({ name, value }) => ({
        Name: name,
        Soft: value,
        Hard: value,
      })),
      // Counted by gVisor itself, for each user inside.
      ...(runtimeKind === "gvisor"
        ? [{ Name: "nproc", Soft: processesOfUser(limits.pids), Hard: processesOfUser(limits.pids) }]
        : []),
    ],
    ShmSize: sharedMemoryBytesOf(spec),
    Tmpfs: Object.fromEntries([
      ...[...image.volumes, ...ownFolders[runtimeKind]]
        .filter((path) => mounts.every(({ target }) => target !== path))
        .map((path) => [path, wording.hiddenVolumeOptions] as const),
      ...spec.scratch.map((scratch) => [scratch.path, wording.tmpfsOptions(scratch)] as const),
    ]),
    Mounts: [
      {
        Type: "volume",
        Source: supervisorVolume,
        Target: supervisorFolder,
        ReadOnly: true,
        VolumeOptions: { NoCopy: true },
      },
      // Docker takes nothing of its own folders with less.
      ...ownFiles.map((file) => bindMount({ ...file, readOnly: true }, "rslave")),
      ...(volumesFrom === undefined ? mounts.map((mount) => mountOf(mount, mountsByHandle)) : []),
    ],
    ...(volumesFrom === undefined ? {} : { VolumesFrom: [`${volumesFrom}:ro`] }),
    // Output comes from the attached streams; a log would fill the host's disk.
    LogConfig: { Type: "none", Config: {} },
    RestartPolicy: { Name: "no" },
  };
}

function mountOf(mount: MountSpec, mountsByHandle: boolean): object {
  const heldAt = mountsByHandle ? mount.identity?.heldAt : null;
  return heldAt === null || heldAt === undefined ? bindMount(mount) : volumeOf(mount, heldAt);
}

/**
 * A nameless volume, which goes with the container. The engine itself mounts it, at the start, so that it can be a
 * descriptor of ours; a bind's source is looked up by the runtime, in another mount namespace.
 */
function volumeOf({ target, readOnly }: MountSpec, heldAt: string): object {
  const options = { type: "none", o: readOnly ? "bind,ro" : "rbind", device: heldAt };
  return {
    Type: "volume",
    Target: target,
    // Anonymous volumes have no ReadOnly of their own.
    VolumeOptions: { NoCopy: true, DriverConfig: { Name: "local", Options: options } },
  };
}

/**
 * A missing source is refused by the engine. Its API has no way to say nosuid and nodev: no-new-privileges and the
 * container's device rules stand in for them.
 */
function bindMount({ source, target, readOnly }: MountSpec, propagation = "rprivate"): object {
  return {
    Type: "bind",
    Source: source,
    Target: target,
    ReadOnly: readOnly,
    // Only the newest engines also make what is mounted below read-only: here it is left out.
    BindOptions: { Propagation: propagation, NonRecursive: readOnly },
  };
}
