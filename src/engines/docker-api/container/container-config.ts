import type { ContainerSpec, MountSpec, ScratchSpec } from "../../container-spec.ts";
import { coveredProcPaths, coveredSysPaths } from "../../covered-paths.ts";
import { keeperUserOf, openFoldersOf, processUserOf } from "../../inside/container-users.ts";
import { openFilesOf, sharedMemoryBytesOf } from "./container-defaults.ts";
import { keeperCommand } from "../../inside/keeper-script.ts";
import type { ImageFacts } from "../images/images.ts";
import type { RuntimeKind } from "../oci-runtime.ts";
import { hostProcesses, ownFolders } from "../runtime-needs.ts";

export interface ContainerConfigOptions {
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
}

/** The options whose wording is an engine's own. */
export interface ConfigWording {
  /** Value of `SecurityOpt` for the profile. */
  seccompOption(profile: object): string;
  /** Options of one scratch mount, for an owner `uid:gid` or root. */
  tmpfsOptions(scratch: ScratchSpec, owner: string | null): string;
  /** Options of a mount that hides one of the image's volumes: empty and read-only. */
  readonly hiddenVolumeOptions: string;
}

/**
 * Body of the call that creates a container (`name` apart).
 * A container without a command of its own runs the keeper as a user of its own without capabilities, whose memory is
 * closed to programs, and removes itself when its standard input ends: with the connection of the server that made it.
 * What is not written here stays at the engine's default; so do the read-only paths.
 */
export function containerConfig(spec: ContainerSpec, options: ContainerConfigOptions): object {
  const idle = spec.command === undefined;
  return {
    Image: options.image.id,
    // As the entry point, so that the image's entry point and command have no part in it.
    Entrypoint: spec.command ?? keeperCommand(openFoldersOf(spec)),
    Cmd: [],
    // The keeper needs none of it; each exec gets it.
    Env: idle ? [] : environmentList(spec.environment),
    // Engines create this folder in the image; with a mount on it, its mode would become that of the mount.
    WorkingDir: idle ? "/" : (spec.workingDirectory ?? "/"),
    User: idle ? keeperUserOf(spec) : processUserOf(spec),
    Labels: spec.labels,
    Hostname: "sandbox",
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
  { wording, seccompProfile, image, runtimeKind, mountsByHandle, volumesFrom }: ContainerConfigOptions,
): object {
  const { limits, mounts = [] } = spec;
  // The keeper opens its own folders to everyone; without a keeper the folders must belong to the program.
  const owner = spec.command === undefined ? null : processUserOf(spec);
  const openFiles = openFilesOf(spec);
  return {
    AutoRemove: spec.command === undefined,
    ...(spec.ociRuntime === undefined ? {} : { Runtime: spec.ociRuntime }),
    Privileged: false,
    CapAdd: spec.rootCapabilities ?? [],
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
    Init: true,
    Memory: limits.memoryBytes,
    // Memory and swap together: no swap.
    MemorySwap: limits.memoryBytes,
    NanoCpus: Math.round(limits.cpus * 1e9),
    PidsLimit: hostProcesses(limits.pids, runtimeKind),
    Ulimits: [
      { Name: "nofile", Soft: openFiles, Hard: openFiles },
      { Name: "core", Soft: 0, Hard: 0 },
      // Counted by gVisor itself, for each user inside.
      ...(runtimeKind === "gvisor" ? [{ Name: "nproc", Soft: limits.pids, Hard: limits.pids }] : []),
    ],
    ShmSize: sharedMemoryBytesOf(spec),
    Tmpfs: Object.fromEntries([
      ...[...image.volumes, ...ownFolders[runtimeKind]]
        .filter((path) => mounts.every(({ target }) => target !== path))
        .map((path) => [path, wording.hiddenVolumeOptions] as const),
      ...spec.scratch.map((scratch) => [scratch.path, wording.tmpfsOptions(scratch, owner)] as const),
    ]),
    ...(mounts.length === 0 || volumesFrom !== undefined
      ? {}
      : { Mounts: mounts.map((mount) => mountOf(mount, mountsByHandle)) }),
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
function bindMount({ source, target, readOnly }: MountSpec): object {
  return {
    Type: "bind",
    Source: source,
    Target: target,
    ReadOnly: readOnly,
    // Only the newest engines also make what is mounted below read-only: here it is left out.
    BindOptions: { Propagation: "rprivate", NonRecursive: readOnly },
  };
}

/** Variables as the API takes them. */
export function environmentList(environment: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(environment).map(([name, value]) => `${name}=${value}`);
}
