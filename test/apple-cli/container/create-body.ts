import { capabilitySet } from "./capabilities.ts";
import type { Configuration } from "./configuration.ts";
import { hostNameOf } from "./names.ts";
import { unlimited, type Rlimit } from "./ulimits.ts";
import type { Mount } from "./volumes.ts";

/** What the container is on Docker, in addition to its own configuration. */
export interface DockerPlace {
  readonly version: string;
  readonly imageId: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Docker's names for a volume and for a network. */
  readonly volumeName: (name: string) => string;
  readonly networkName: (name: string) => string;
  /** Whether it gets no way out, even if it asks for one. */
  readonly cutOff: boolean;
  /** Whether a caller will write to standard input. */
  readonly openStdin: boolean;
}

/** Docker's equivalent of a virtual machine's limit on one user's processes: a limit on the whole container. */
const processes = "RLIMIT_NPROC";

/** Processes of other users that the limit does not count, as many as the engine's own: for one program at a time. */
const ofOthers = 3;

const cpuPeriod = 100_000;

function ulimitsOf(rlimits: readonly Rlimit[]): readonly object[] {
  const value = (limit: number): number => (limit === unlimited ? -1 : limit);
  return rlimits
    .filter(({ limit }) => limit !== processes)
    .map(({ limit, soft, hard }) => ({
      Name: limit.replace("RLIMIT_", "").toLowerCase(),
      Soft: value(soft),
      Hard: value(hard),
    }));
}

function mountOf({ kind, source, destination, options, volume }: Mount, volumeName: (name: string) => string): object {
  return {
    Type: kind === "virtiofs" ? "bind" : "volume",
    Source: kind === "virtiofs" ? source : volumeName(volume ?? ""),
    Target: destination,
    ReadOnly: options.includes("ro"),
    // The operator's mounts below it would stay writable; in a virtual machine the whole share is read-only.
    ...(kind === "virtiofs" ? { BindOptions: { NonRecursive: options.includes("ro") } } : {}),
    ...(kind === "volume" ? { VolumeOptions: { NoCopy: true } } : {}),
  };
}

/** The default options of Linux's tmpfs; Docker would add some that refuse programs, devices and setuid files. */
function tmpfsOptions(options: readonly string[]): string {
  const mode = options.some((option) => option.startsWith("mode=")) ? [] : ["mode=1777"];
  const sized = options.map((option) => option.replace(/^size=(\d+)([kmg])i?b?$/i, "size=$1$2"));
  return ["exec", "suid", "dev", ...mode, ...sized].join(",");
}

function portsOf(configuration: Configuration): Readonly<Record<string, readonly object[]>> {
  const bindings: Record<string, object[]> = {};
  for (const { hostAddress, hostPort, containerPort, proto, count } of configuration.ports) {
    for (let offset = 0; offset < count; offset += 1) {
      const inner = `${containerPort + offset}/${proto}`;
      (bindings[inner] ??= []).push({ HostIp: hostAddress, HostPort: String(hostPort + offset) });
    }
  }
  return bindings;
}

/** What Docker is told to create. */
export function createBody(configuration: Configuration, place: DockerPlace): object {
  const { argv, dns, mounts, rlimits } = configuration;
  const ports = portsOf(configuration);
  const network = place.cutOff ? undefined : configuration.networks[0]?.network;
  const tmpfs = mounts.filter(({ kind }) => kind === "tmpfs");
  const limit = rlimits.find((each) => each.limit === processes)?.soft;
  return {
    Image: place.imageId,
    Entrypoint: argv.slice(0, 1),
    Cmd: argv.slice(1),
    Env: configuration.environment,
    User: configuration.user,
    WorkingDir: configuration.workingDirectory,
    Hostname: hostNameOf(configuration.id),
    Tty: configuration.terminal,
    OpenStdin: place.openStdin,
    StdinOnce: place.openStdin,
    AttachStdin: place.openStdin,
    AttachStdout: true,
    AttachStderr: true,
    StopSignal: configuration.stopSignal,
    Labels: place.labels,
    ExposedPorts: Object.fromEntries(Object.keys(ports).map((port) => [port, {}])),
    HostConfig: {
      AutoRemove: configuration.remove,
      Binds: null,
      CapDrop: ["ALL"],
      CapAdd: capabilitySet(place.version, configuration.capAdd, configuration.capDrop),
      CpuPeriod: cpuPeriod,
      CpuQuota: configuration.cpus * cpuPeriod,
      Dns: dns?.nameservers,
      DnsSearch: dns?.searchDomains,
      DnsOptions: dns?.options,
      GroupAdd: configuration.supplementalGroups.map(String),
      Init: configuration.init,
      MaskedPaths: configuration.maskedPaths,
      ReadonlyPaths: configuration.readOnlyPaths,
      Memory: configuration.memoryBytes,
      MemorySwap: configuration.memoryBytes,
      Mounts: mounts.filter(({ kind }) => kind !== "tmpfs").map((mount) => mountOf(mount, place.volumeName)),
      NetworkMode: network === undefined ? "none" : place.networkName(network),
      PidsLimit: limit === undefined || limit === unlimited ? undefined : limit + ofOthers,
      PortBindings: network === undefined ? {} : ports,
      ReadonlyRootfs: configuration.readOnly,
      // A virtual machine has its own kernel, and no filter of system calls.
      SecurityOpt: ["seccomp=unconfined"],
      ShmSize: configuration.sharedMemoryBytes,
      Tmpfs: Object.fromEntries(tmpfs.map(({ destination, options }) => [destination, tmpfsOptions(options)])),
      Ulimits: ulimitsOf(rlimits),
    },
  };
}
