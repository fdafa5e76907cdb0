import type { MountEntry } from "../../base/mount-table.ts";
import { spawnFilter } from "../../policy/seccomp/spawn-filter.ts";
import { defaultOpenFiles, type ContainerSpec } from "../container-spec.ts";
import type { ProgramLimits, ToldStart, SupervisorTerms, UserAndGroup } from "../supervised/channel/hello.ts";
import type { SupervisorBinary } from "../supervised/supervisor-binary.ts";
import { userLimits, type UserLimit } from "../user-limits.ts";

/** The supervisor, the helper that waits for a file operation, and the warden of one program, all of the pod's user. */
const supervisorsProcesses = 3;

/** What the supervisor of a pod must be: the user of its programs, without any capability. */
export function podTerms(
  { architecture, build }: SupervisorBinary,
  user: UserAndGroup,
  spec: Pick<ContainerSpec, "limits" | "ociRuntime">,
): SupervisorTerms {
  const { program, probes } = spawnFilter(architecture, { setuidBits: false });
  return {
    ...{ build, architecture, mode: "shared", becomes: null, own: user, programs: user },
    ...{ capabilities: 0n, tags: null, filter: program, probes, limits: programLimits(spec), tellsStart: true },
    // Without it the kernel is gVisor's, in which a program of this user could forge what the supervisor says.
    facts: ["SUBREAPER"],
  };
}

/** What no field of a pod sets: for its user, which no other pod of this server has, and for each program. */
function programLimits({ limits, ociRuntime }: Pick<ContainerSpec, "limits" | "ociRuntime">): ProgramLimits {
  const { pids, memoryBytes, openFiles = defaultOpenFiles } = limits;
  const ofUser = (limit: UserLimit["name"]): number => userLimits.find(({ name }) => name === limit)?.value ?? 1;
  // gVisor, whose kernel each pod has for itself, takes no order about signals and queues: a named runtime's own limits hold.
  const ofKernel = (limit: UserLimit["name"]): number => (ociRuntime === undefined ? ofUser(limit) : 0);
  return {
    ...{ processes: pids + supervisorsProcesses, openFiles, signals: ofKernel("sigpending") },
    ...{ queueBytes: ofKernel("msgqueue"), lockedBytes: ofUser("memlock") },
    // All that programs may write lies in the pod's memory, but for the file of their last words.
    fileBytes: memoryBytes,
  };
}

/** Variables that the cluster gives to pods: addresses of its services, and the pod's name. */
const clusterVariable =
  /^(?:KUBERNETES_.*|HOSTNAME|.*_SERVICE_(?:HOST|PORT(?:_.*)?)|.*_PORT_\d+_(?:TCP|UDP|SCTP)(?:_.*)?)$/s;
const serviceAddress = /^(?:tcp|udp|sctp):\/\//;

/**
 * The image's variables among those that a pod's first process was started with: neither the cluster's own nor those that an
 * admission has put into the pod, which may be secret; none where nobody knows those.
 */
export function imageVariables(
  variables: NonNullable<ToldStart["variables"]>,
  injected: ReadonlySet<string> | null,
): Readonly<Record<string, string>> {
  if (injected === null) return {};
  const pairs = variables.flatMap((text) => {
    const at = text.indexOf("=");
    return at < 1 ? [] : [[text.slice(0, at), text.slice(at + 1)] as const];
  });
  const isOurs = ([name, value]: readonly [string, string]): boolean =>
    !clusterVariable.test(name) && !injected.has(name) && !(name.endsWith("_PORT") && serviceAddress.test(value));
  return Object.fromEntries(pairs.filter(isOurs));
}

/** File systems that take no place on a disk; what is in memory counts as the pod's. */
const withoutDisk: ReadonlySet<string> = new Set([
  ...["proc", "sysfs", "cgroup", "cgroup2", "devpts", "mqueue", "tmpfs", "devtmpfs", "dev"],
]);
/** Files that the kubelet and the runtime give to every container: root's, but the last, whose size the supervisor watches. */
const kubeletFiles: ReadonlySet<string> = new Set([
  ...["/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/dev/termination-log"],
]);

/**
 * Where a pod's programs could write to the node's disk, without a bound: folders that the image declares as volumes. `own` are those
 * that the pod has in memory, of which another kernel says less.
 */
export function diskFolders(mounts: readonly MountEntry[], own: ReadonlySet<string>): readonly string[] {
  return mounts
    .filter(({ kind, ownOptions }) => !withoutDisk.has(kind) && !ownOptions.split(",").includes("ro"))
    .map(({ mountPoint }) => mountPoint)
    .filter((path) => !kubeletFiles.has(path) && !own.has(path));
}
