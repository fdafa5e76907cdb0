import { clientFiles, type FileReader } from "../docker-api/http/client-settings.ts";
import { DockerApiEngine } from "../docker-api/engine.ts";
import type { Engine } from "../engine.ts";
import { findPodmanEndpoint, explainPodmanFailure } from "./find-podman-endpoint.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { EngineSetup, EngineConnection } from "../capabilities.ts";
import type { Dialect, MachineAnswer, VersionAnswer, EngineAccount } from "../docker-api/dialect.ts";
import { unavailableError, type Unavailability } from "../unavailability.ts";
import type { ContainerSpec, MountSpec } from "../container-spec.ts";
import { coveredProcPaths, coveredSysPaths } from "../covered-paths.ts";
import { openFilesOf, sharedMemoryBytesOf } from "../docker-api/container/container-config.ts";
import { containerHostname } from "../docker-api/engine-volumes.ts";
import { supervisorCapabilities } from "../supervised/container/apart-terms.ts";
import { supervisorFolder, supervisorPath } from "../supervised/supervisor-binary.ts";
import { userLimits, type OwnFile } from "../container-users.ts";
import { hostProcesses, ownFolders, processesOfUser, type RuntimeKind } from "../docker-api/oci-runtime.ts";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";

export interface PodmanEngineOptions {
  /** `CONTAINER_HOST`, `XDG_RUNTIME_DIR`, `HOME`, `TMPDIR`, `REGISTRY_AUTH_FILE` and `DOCKER_CONFIG` are read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Numeric id of this process's user; null where the system has none. */
  readonly uid: number | null;
  /** A random integer, `minimum` included, `maximum` excluded. */
  readonly randomInteger: (minimum: number, maximum: number) => number;
  /** Folder for the profile's file, which the service reads: not writable for anyone else. */
  readonly profileFolder: string;
}

/** Podman, over its service's API; nothing is opened before the first call. */
export function createPodmanEngine(options: PodmanEngineOptions): Engine {
  const { environment, platform, uid, randomInteger, profileFolder } = options;
  return new DockerApiEngine({
    dialect: podmanDialect({
      platform,
      shareProfile: async (profile) => {
        // Each time: a file that is gone or changed must not be what a container is given.
        const file = await writeSeccompFile({ folder: profileFolder, profile });
        return pathInMachine(file, platform);
      },
    }),
    randomInteger,
    findEndpoint: () => findPodmanEndpoint({ environment, platform, uid, files: clientFiles }),
    explain: (failure) => explainPodmanFailure(failure, { platform, uid }),
    readClientConfig: () => readRegistryCredentials(environment, clientFiles),
  });
}

interface PodmanDialectOptions {
  /** Puts the profile where the service can read it, and gives the path there. */
  readonly shareProfile: (profile: object) => Promise<string>;
  /** Of this machine. */
  readonly platform: NodeJS.Platform;
}

/** Prefix of Podman's own interface, of its oldest version that is supported. */
const ownApi = "/v4.0.0/libpod";

/** What is Podman's own behind Docker's API, and where its own interface is better. */
export function podmanDialect({ shareProfile, platform }: PodmanDialectOptions): Dialect {
  return {
    name: "podman",
    title: "Podman",
    createCall: async (
      spec,
      { seccompProfile, image, setup, runtimeKind, volumesFrom, supervisorVolume, ownFiles },
    ) => {
      assertLocal(setup);
      const seccompPath = await shareProfile(seccompProfile);
      const isRootless = setup.containerRoot === "rootless";
      return {
        path: `${ownApi}/containers/create`,
        body: createBody(spec, {
          ...{
            seccompPath,
            imageId: image.id,
            isRootless,
            runtimeKind,
            platform,
            volumesFrom,
            supervisorVolume,
            ownFiles,
          },
        }),
      };
    },
    // Each of its answers about itself runs the machine's package manager for each of its parts, and `/version` twice.
    examine: async (describe, connection) => {
      try {
        const [info, own] = await Promise.all([
          describe<MachineAnswer>("/info"),
          describe<PodmanInfo>(`${ownApi}/info`),
        ]);
        return { version: versionIn(own), machine: correctInfo(info, own, connection) };
      } catch (error) {
        const foreign = foreignness(await describe<VersionAnswer>("/version"));
        throw foreign === null ? error : unavailableError("podman", foreign);
      }
    },
    // It takes any name and runs its own default.
    runtimes: ({ DefaultRuntime }) => (DefaultRuntime === undefined ? [] : [DefaultRuntime]),
    howToAddRuntime: "Podman's service runs its default only, which `podman --runtime NAME system service` changes.",
    namesLocalBuilds: true,
    // Measured with 4.3: no header makes it leave the credentials of its own files out.
    pullsAnonymously: false,
    // Nor need it: what it mounts can be looked at before anything of the image's runs.
    mountsByHandle: false,
    deniesOom: false,
    isNotRunning: (status, reason) => status === 409 || (status === 500 && reason.includes("state improper")),
    version: (answer) => podmanOf(answer)?.Version ?? answer.Version ?? "unknown",
    foreignness,
  };
}

function podmanOf({ Components }: VersionAnswer): { readonly Version?: string } | undefined {
  return Components?.find((component) => component.Name === "Podman Engine");
}

const oldestMajor = 4;

function foreignness(answer: VersionAnswer): Unavailability | null {
  const podman = podmanOf(answer);
  if (podman === undefined) {
    return {
      reason: "What answers on Podman's endpoint is not Podman.",
      howToStart: "Point CONTAINER_HOST at Podman's service, or choose the engine docker.",
    };
  }
  const major = Number.parseInt(podman.Version ?? "", 10);
  if (major >= oldestMajor) return null;
  return {
    reason: `Podman ${podman.Version} is too old; Glovebox needs ${oldestMajor}.0 or newer.`,
    howToStart: "Upgrade Podman.",
  };
}

/** A profile is passed by its path on the service's host, where we cannot write when it is not this one. */
function assertLocal({ connection }: EngineSetup): void {
  if (connection?.remote !== true) return;
  throw new GloveboxError("UNSUPPORTED", "Podman on another machine cannot use Glovebox's seccomp profile.", {
    suggestion: "Use Podman's service on this machine, or Docker, which accepts the profile over the connection.",
    context: { engine: "podman", missing: "seccomp" },
  });
}

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

/** The path as the service sees it: a Windows drive is mounted under `/mnt` in Podman's machine. */
export function pathInMachine(path: string, platform: NodeJS.Platform): string {
  if (platform !== "win32") return path;
  return path.replaceAll("\\", "/").replace(/^([A-Za-z]):/, (_, drive: string) => `/mnt/${drive.toLowerCase()}`);
}

/** The part of Podman's own `/info` that is read. */
export interface PodmanInfo {
  readonly host?: {
    /** `v1` or `v2`. */
    readonly cgroupVersion?: string;
    /** Who makes control groups: `systemd` or `cgroupfs`. */
    readonly cgroupManager?: string;
    /** Control groups that containers of this service can have. */
    readonly cgroupControllers?: readonly string[] | null;
    readonly security?: { readonly rootless?: boolean; readonly seccompEnabled?: boolean } | null;
    readonly conmon?: { readonly version?: string } | null;
    readonly ociRuntime?: { readonly name?: string; readonly version?: string } | null;
  };
  readonly version?: { readonly Version?: string } | null;
}

/** What `/version` would tell of the service and of its parts. */
function versionIn({ host, version }: PodmanInfo): EngineAccount["version"] {
  const parts = [
    { Name: "Podman Engine", Version: version?.Version },
    { Name: "Conmon", Version: host?.conmon?.version },
    { Name: `OCI Runtime (${host?.ociRuntime?.name ?? "runc"})`, Version: host?.ociRuntime?.version },
  ];
  return { Components: parts.filter((part): part is { Name: string; Version: string } => part.Version !== undefined) };
}

const asRoot = "use the service of root (`sudo systemctl start podman.socket`, and CONTAINER_HOST that leads to it)";

/** What people can do who want limits without root. */
const rootlessAdvice = {
  version: `Without root Podman ignores limits with control groups version 1: boot with version 2 (kernel parameter systemd.unified_cgroup_hierarchy=1), or ${asRoot}.`,
  manager: `Without root Podman ignores limits unless systemd makes the control groups: set cgroup_manager="systemd" under [engine] in containers.conf and start the service in a login session of its user, or ${asRoot}.`,
  controllers: `Let systemd delegate the controllers to users (Delegate=cpu memory pids under [Service] in /etc/systemd/system/user@.service.d/delegate.conf, then log in again), or ${asRoot}.`,
} as const;

/**
 * The account that Podman gives in Docker's words, corrected by the one in its own: the first tells what the kernel
 * has, not what this service can use. Without root it ignores every limit with cgroup v1, and with `cgroupfs`, which
 * lists the controllers all the same (podman issue 21575). A service on another machine cannot be given a seccomp
 * profile.
 */
export function correctInfo(
  info: MachineAnswer,
  { host = {} }: PodmanInfo,
  connection: EngineConnection,
): MachineAnswer {
  const isRootless = host.security?.rootless === true;
  const obstacle = isRootless ? rootlessObstacle(host) : null;
  const usable = obstacle === "version" || obstacle === "manager" ? [] : (host.cgroupControllers ?? []);
  const hasSeccomp = host.security?.seccompEnabled === true && !connection.remote;
  const others = (info.SecurityOptions ?? []).filter((option) => !/^(?:name=)?seccomp(?:,|$)/.test(option));
  return {
    ...info,
    SecurityOptions: [
      ...others.filter((option) => option !== "name=rootless"),
      ...(hasSeccomp ? ["name=seccomp"] : []),
      ...(isRootless ? ["name=rootless"] : []),
    ],
    MemoryLimit: usable.includes("memory"),
    CpuCfsQuota: usable.includes("cpu") && info.CpuCfsQuota !== false,
    PidsLimit: usable.includes("pids"),
    ...(obstacle === null ? {} : { limitsAdvice: rootlessAdvice[obstacle] }),
  };
}

/** The first thing in the way of limits without root; null when nothing is. */
function rootlessObstacle(host: NonNullable<PodmanInfo["host"]>): keyof typeof rootlessAdvice | null {
  if (host.cgroupVersion !== "v2") return "version";
  if (host.cgroupManager !== "systemd") return "manager";
  const controllers = host.cgroupControllers ?? [];
  return ["cpu", "memory", "pids"].every((name) => controllers.includes(name)) ? null : "controllers";
}

/** The text of the first file with registry credentials that Podman's own client would read; null when there is none. */
export async function readRegistryCredentials(
  environment: Readonly<Record<string, string | undefined>>,
  files: Pick<FileReader, "read">,
): Promise<string | null> {
  const home = environment["HOME"] ?? environment["USERPROFILE"] ?? "";
  const runtime = environment["XDG_RUNTIME_DIR"];
  const chosen = environment["REGISTRY_AUTH_FILE"];
  const usual = [
    ...(runtime ? [`${runtime}/containers/auth.json`] : []),
    `${home}/.config/containers/auth.json`,
    `${environment["DOCKER_CONFIG"] || `${home}/.docker`}/config.json`,
  ];
  for (const path of chosen ? [chosen] : usual) {
    const text = await files.read(path);
    if (text !== null) return text;
  }
  return null;
}

interface SeccompFileOptions {
  /** A folder that nobody else can write to; made when it is missing. */
  readonly folder: string;
  readonly profile: object;
}

/**
 * Puts the profile into a file, for an engine that takes a path, and gives the path. Named by its content, so that
 * versions of Glovebox do not disturb each other; written anew when it holds anything else.
 * @throws UNSUPPORTED when it cannot be written
 */
export async function writeSeccompFile({ folder, profile }: SeccompFileOptions): Promise<string> {
  const text = JSON.stringify(profile);
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 32);
  const file = path.join(folder, `${hash}.json`);
  let unfinished: string | undefined;
  try {
    if ((await readFile(file, "utf8").catch(() => null)) === text) return file;
    await mkdir(folder, { recursive: true, mode: 0o755 });
    unfinished = await mkdtemp(path.join(folder, ".new-"));
    // A service that runs as another user must be able to read it.
    await writeFile(path.join(unfinished, "profile"), text, { mode: 0o644 });
    await rename(path.join(unfinished, "profile"), file);
    return file;
  } catch (error) {
    throw new GloveboxError(
      "UNSUPPORTED",
      "Glovebox cannot write the seccomp profile for Podman to its state folder.",
      {
        suggestion: "Make the state folder writable (XDG_STATE_HOME), or choose another engine.",
        context: { engine: "podman", missing: "seccomp" },
        cause: error,
      },
    );
  } finally {
    if (unfinished !== undefined) await rm(unfinished, { recursive: true, force: true });
  }
}
