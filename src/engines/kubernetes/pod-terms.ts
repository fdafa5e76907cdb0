import type { Capabilities } from "../capabilities.ts";
import type { MountEntry } from "../../base/mount-table.ts";
import { spawnFilter } from "../../policy/seccomp/spawn-filter.ts";
import { defaultOpenFiles, type ContainerSpec } from "../container-spec.ts";
import type { ProgramLimits, ToldStart, SupervisorTerms, UserAndGroup } from "../supervised/channel/hello.ts";
import type { SupervisorBinary } from "../supervised/supervisor-binary.ts";
import { userLimits, type UserLimit } from "../container-users.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { frameLimits } from "../supervised/frames/frame-table.ts";
import { parseUser } from "../supervised/container/program-request.ts";
import { engineName } from "./kubernetes-errors.ts";

const sharedNote =
  "Programs on Kubernetes have the user of the process that watches over them: one can end others of its own sandbox, whose calls then say that the sandbox was lost.";

/** What every result says where a deployment accepts the cluster's network by name. */
const networkNote =
  "The deployment accepts that sandboxes on Kubernetes have the cluster's network: programs can reach whatever its policies let pods reach.";

/** What a pod of the profile `restricted` enforces. */
export function kubernetesCapabilities({ acceptsNetwork }: { readonly acceptsNetwork: boolean }): Capabilities {
  return {
    isolation: "container",
    images: true,
    hostPaths: false,
    supervisor: "shared",
    notes: acceptsNetwork ? [sharedNote, networkNote] : [sharedNote],
    seccomp: "yes",
    noNewPrivileges: "yes",
    setuidRefusal: "yes",
    readOnlyRoot: "yes",
    noNetwork: {
      substitute: acceptsNetwork
        ? "what the deployment accepts: the cluster's network"
        : "a network policy, whose effect is shown from inside each sandbox before its programs run",
    },
    // Seen with control groups of version 1: 802 MB beyond a limit of 96 MB.
    memoryLimit: {
      substitute: "the pod's limit, which leaves out what sockets hold on nodes with control groups of version 1",
    },
    cpuLimit: "yes",
    pidsLimit: {
      substitute: "a limit for the user of its programs (rlimit), which no other pod of the server has",
    },
    scratch: "memory",
    diskLimit: "no",
    oomReporting: true,
    cpuReporting: true,
    execUser: false,
    execNetwork: "shared",
  };
}

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

export function noCommit(): GloveboxError {
  return unsupported("Kubernetes makes no image of a pod.", "commit", "Name an image that has it already.");
}

export function noBuild(reference: string): GloveboxError {
  return unsupported(
    `Kubernetes builds no images, so ${reference} cannot be built.`,
    "build",
    "Build it elsewhere, push it to a registry that the cluster pulls from, and name it.",
  );
}

export function noOtherUser(): GloveboxError {
  return unsupported("All programs of a pod are one user.", "execUser");
}

/** What a pod that fits the profile `restricted` cannot be given. @throws UNSUPPORTED */
export function assertPodPossible(spec: ContainerSpec, user: string): void {
  if (parseUser(user).user === 0 || spec.rootCapabilities !== undefined) {
    throw unsupported("Programs of a pod are never root, with capabilities or without.", "root");
  }
  if (spec.writableRoot !== undefined) {
    throw unsupported("The root of a pod is read-only: nothing measures what would be written to it.", "diskLimit");
  }
  if ((spec.mounts ?? []).some(({ unchanging, readOnly }) => unchanging !== true || !readOnly)) {
    throw unsupported("A pod can be given no files of this machine but copies of what never changes.", "hostPaths");
  }
}

/** Variables that are longer than a supervisor tells. */
export function tooManyVariables(image: string): GloveboxError {
  return unsupported(
    `The image ${image} has more variables (ENV) than a sandbox on Kubernetes can take: ${frameLimits.maxStartBytes} bytes together.`,
    "environment",
    "Use an image with less ENV, and give data to programs in files.",
  );
}

export function mountsUnknown(): GloveboxError {
  return unsupported("The sandbox's mount table cannot be read, or is very long, so nothing was run in it.", "mounts");
}

/** Folders that the image declares as volumes, which a node keeps on its disk and nothing bounds. */
export function foldersOnDisk(image: string, folders: readonly string[]): GloveboxError {
  const named = folders.slice(0, 5).join(", ").slice(0, 300);
  return unsupported(
    `The node gives the image ${image} folders on its disk without a bound (VOLUME): ${named}; so nothing was run in it.`,
    "diskLimit",
    "Try again: they are covered from now on. Programs that need one get it as scratch.",
  );
}

export function noRemoval(reference: string): GloveboxError {
  return unsupported(`The nodes of Kubernetes remove images themselves, so ${reference} cannot be removed.`, "images");
}

export function noRuntime(name: string, words: string): GloveboxError {
  return unsupported(
    `The cluster has no RuntimeClass ${JSON.stringify(name.slice(0, 80))} for sandboxes: ${words}.`,
    "ociRuntime",
    "Name one of `kubectl get runtimeclasses`, or leave oci_runtime out.",
  );
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

function unsupported(message: string, missing: string, suggestion?: string): GloveboxError {
  const context = { engine: engineName, missing };
  return new GloveboxError("UNSUPPORTED", message, suggestion === undefined ? { context } : { context, suggestion });
}
