import { mebibyte } from "../../base/bytes.ts";
import { labels as ownLabels } from "../labels.ts";
import type { ContainerSpec, ScratchSpec } from "../container-spec.ts";
import type { UserAndGroup } from "../supervised/channel/hello.ts";
import type { OwnerReferences, KubernetesApi } from "./kubernetes-api.ts";
import { supervisorFolder } from "../supervised/supervisor-binary.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { imageUnavailable, pullFailed } from "../image-errors.ts";
import type { ContainerState, CallOptions } from "../engine.ts";
import { engineName, shownWords } from "./kubernetes-errors.ts";
import { setTimeout as sleep } from "node:timers/promises";

export const containerName = "sandbox";
/** Of a pod that is given copies of folders: it writes them, and ends before anything runs in the sandbox. */
export const foldersContainer = "folders";
/** Name of the program in its folder and in its object. */
export const supervisorFile = "supervisor";
/** All labels of a sandbox, as JSON: the values of Kubernetes' own labels are short and have few characters. */
const labelsAnnotation = "glovebox.labels";
/** Where the container that writes copies has each of them. */
export function copiedFolder(index: number): string {
  return `/folders/${index}`;
}

/** On every object of ours in a cluster. */
export const managedBy: Readonly<Record<string, string>> = { "app.kubernetes.io/managed-by": "glovebox" };

/** On every pod that may connect to nothing. */
export const deniedLabel: Readonly<Record<string, string>> = { "glovebox.network": "none" };

/** Its own DELETE tells when a pod is gone: with none the object goes at once, and what runs goes on for seconds. */
const graceSeconds = 1;
/** After its hard end a sandbox is ended by its server; the cluster does it when that is gone. */
const afterEndSeconds = 60;
const defaultSharedMemoryBytes = 64 * mebibyte;
/**
 * Of a CPU, what a pod claims for itself: sandboxes wait most of the time, and the scheduler counts claims, not use. Under pressure the
 * kernel shares the node by them, so all sandboxes have equal parts; `limits.cpu` bounds each.
 */
const claimedCpus = 0.05;
/** Of the container that writes copies. */
const folderLimits = { cpus: 1, memoryBytes: 64 * mebibyte };

export interface ManifestOptions {
  /** Of the first process and its programs. */
  readonly user: UserAndGroup;
  /** `amd64` or `arm64`. */
  readonly architecture: string;
  /** Name of the object that holds the supervisor. */
  readonly configMap: string;
  readonly pullPolicy: "IfNotPresent" | "Never";
  readonly pullSecrets: readonly string[];
  readonly owner: OwnerReferences;
  /** Folders that the image declares as volumes: a node would keep them on its disk. */
  readonly covered: readonly string[];
  /** Whether the policy for sandboxes is to hold for it. */
  readonly isDenied: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A pod whose first process is the supervisor, which waits for its server. It fits the profile `restricted`. */
export function podManifest(spec: ContainerSpec, options: ManifestOptions): object {
  const { user, architecture, configMap, pullSecrets } = options;
  const deadline = deadlineSeconds(spec, options.now);
  const volumes: readonly (VolumeMount & { readonly sizeBytes: number })[] = [
    ...memoryFolders(spec).map((folder, index) => ({ ...folder, name: `scratch-${index}` })),
    ...coveredFolders(spec, options).map((path, index) => ({ ...coveredFolder, path, name: `covered-${index}` })),
  ];
  const copies = (spec.mounts ?? []).map(({ target }, index) => ({ name: `copy-${index}`, path: target }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: spec.name,
      ...options.owner,
      labels: { ...labelsForSelectors(spec.labels), ...managedBy, ...(options.isDenied ? deniedLabel : {}) },
      annotations: { [labelsAnnotation]: JSON.stringify(spec.labels) },
    },
    spec: {
      restartPolicy: "Never",
      terminationGracePeriodSeconds: graceSeconds,
      ...(deadline === null ? {} : { activeDeadlineSeconds: deadline }),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      hostname: "sandbox",
      // There is nothing to resolve.
      dnsPolicy: "None",
      dnsConfig: { nameservers: ["127.0.0.1"], searches: [] },
      nodeSelector: { "kubernetes.io/os": "linux", "kubernetes.io/arch": architecture },
      ...(spec.ociRuntime === undefined ? {} : { runtimeClassName: spec.ociRuntime }),
      ...(pullSecrets.length === 0 ? {} : { imagePullSecrets: pullSecrets.map((name) => ({ name })) }),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: user.user,
        runAsGroup: user.group,
        seccompProfile: { type: "RuntimeDefault" },
      },
      volumes: [
        {
          name: supervisorFile,
          configMap: { name: configMap, defaultMode: 0o555, items: [{ key: supervisorFile, path: supervisorFile }] },
        },
        ...volumes.map(({ name, sizeBytes }) => ({
          name,
          emptyDir: { medium: "Memory", sizeLimit: String(sizeBytes) },
        })),
        // No programs write to them, and their size is known: they need no limit, and no memory.
        ...copies.map(({ name }) => ({ name, emptyDir: {} })),
      ],
      containers: [
        containerManifest(spec, options, [...volumes, ...copies.map((copy) => ({ ...copy, readOnly: true }))]),
        ...(copies.length === 0 ? [] : [foldersManifest(spec, options, copies)]),
      ],
    },
  };
}

/** Every folder that programs may write to. */
export function memoryFolders(spec: ContainerSpec): readonly ScratchSpec[] {
  return [...spec.scratch, { path: "/dev/shm", sizeBytes: sharedMemoryBytesOf(spec) }];
}

/** As Docker's sandboxes have such folders: empty, and not to be written to. */
const coveredFolder = { sizeBytes: 4_096, readOnly: true };

interface VolumeMount {
  readonly name: string;
  readonly path: string;
  readonly readOnly?: boolean;
}

const labelName = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;

/** Those that Kubernetes can find objects by. */
export function labelsForSelectors(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(labels).filter(([name, value]) => labelName.test(name) && labelValue.test(value)),
  );
}

/** All labels of a pod of ours; none where they cannot be read. */
export function readLabels(
  annotations: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  try {
    const value = JSON.parse(annotations?.[labelsAnnotation] ?? "") as unknown;
    if (typeof value !== "object" || value === null) return {};
    return Object.fromEntries(
      Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    );
  } catch {
    return {};
  }
}

/** The part of a pod that is read. */
export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly creationTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly containers?: readonly {
      readonly name: string;
      readonly env?: readonly { readonly name: string }[];
      readonly envFrom?: readonly object[];
    }[];
  };
  readonly status?: {
    readonly phase?: string;
    /** Of its node. */
    readonly hostIP?: string;
    readonly hostIPs?: readonly { readonly ip: string }[];
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly Words[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

interface Words {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

interface ContainerStatus {
  readonly name: string;
  readonly imageID?: string;
  readonly state?: {
    readonly waiting?: Words;
    readonly running?: object;
    readonly terminated?: Words & { readonly exitCode?: number };
  };
}

/** Names of the variables that an admission has put into a container of ours, which asks for none; null: nobody knows them all. */
export function injectedVariables({ spec }: Pod): ReadonlySet<string> | null {
  const { env = [], envFrom = [] } = spec?.containers?.find(({ name }) => name === containerName) ?? {};
  return envFrom.length > 0 ? null : new Set(env.map(({ name }) => name));
}

/** Of one of its containers, as the kubelet tells it. */
export function statusOf({ status }: Pod, container: string): ContainerStatus | undefined {
  return status?.containerStatuses?.find(({ name }) => name === container);
}

/** Whether nothing of it will run any more, by the kubelet's account. */
export function hasEnded(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return terminatedOf(pod) !== undefined || phase === "Failed" || phase === "Succeeded";
}

/** Its end as the cluster saw it; one that was never seen to end says nothing. */
export function stateOf(pod: Pod | null): ContainerState {
  if (pod !== null && !hasEnded(pod)) return { running: true, exitCode: null, oomKilled: null };
  const terminated = pod === null ? undefined : terminatedOf(pod);
  if (terminated === undefined) return { running: false, exitCode: null, oomKilled: null };
  const oomKilled = terminated.reason === "OOMKilled";
  return { running: false, exitCode: terminated.exitCode ?? null, oomKilled };
}

/** Reasons of the kubelet for a container that waits for its image. */
const imageReasons: ReadonlySet<string> = new Set([
  ...["ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"],
  ...["ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"],
]);
const setupReasons: ReadonlySet<string> = new Set([
  ...["CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError", "ContainerCannotRun"],
]);
/** Words of a start that failed because the node's runtime was restarted meanwhile. */
const brokenOff =
  /context (?:canceled|deadline exceeded)|code = Unavailable|connection (?:refused|reset)|error reading from server|ttrpc: closed/;
/** Reasons of a node that took the pod and then had no room. */
const fullReasons = /^(?:OutOf\w+|Evicted|UnexpectedAdmissionError|NodeAffinity|Preempting)$/;

/** Why a container that has not started will not; null: it may yet. */
export function startFailure(
  pod: Pod,
  { image, container }: { readonly image: string; readonly container: string },
): GloveboxError | null {
  const { phase, reason, message, conditions = [] } = pod.status ?? {};
  const context = { engine: engineName };
  const unscheduled = conditions.find(({ type, status }) => type === "PodScheduled" && status === "False");
  if (unscheduled?.reason === "Unschedulable") {
    const words = shownWords(unscheduled.message);
    return new GloveboxError("CAPACITY", `Kubernetes has no node with room for the sandbox: ${words}`, { context });
  }
  const { waiting, terminated } = statusOf(pod, container)?.state ?? {};
  const why = waiting ?? terminated;
  if (waiting?.reason === "ErrImageNeverPull")
    return imageUnavailable(image, "it is not on the node, and none may be pulled");
  if (waiting?.reason === "InvalidImageName") return imageUnavailable(image, "Kubernetes does not take its name");
  if (waiting?.reason !== undefined && imageReasons.has(waiting.reason))
    return pullFailed(image, waiting.message ?? "");
  if (why?.reason !== undefined && setupReasons.has(why.reason)) {
    const words = `${why.reason}: ${shownWords(why.message)}`;
    const code = brokenOff.test(words) ? "SANDBOX_LOST" : "UNSUPPORTED";
    return new GloveboxError(code, `Kubernetes cannot start the sandbox: ${words}`, { context });
  }
  if (phase === "Failed" && reason !== undefined && fullReasons.test(reason)) {
    return new GloveboxError("CAPACITY", `The node had no room for the sandbox: ${shownWords(message ?? reason)}`, {
      context,
    });
  }
  if (!hasEnded(pod)) return null;
  const words = shownWords(message ?? terminated?.message ?? terminated?.reason ?? reason);
  return new GloveboxError("SANDBOX_LOST", `The pod ended before the sandbox could be used: ${words}`, { context });
}

/** A pod, by the name that it was given and by what tells it from a later one of that name. */
export interface PodKey {
  readonly name: string;
  readonly uid: string;
}

const lookMs = 100;

/** The pod as it is now; null: it is gone, with all that ran in it. */
export async function readPod(api: KubernetesApi, { name, uid }: PodKey, { signal }: CallOptions): Promise<Pod | null> {
  const path = await api.path("pods", name);
  const { status, body } = await api.call("look at the pod", { method: "GET", path, signal }, [404]);
  const pod = body as unknown as Pod;
  return status === 404 || pod.metadata.uid !== uid ? null : pod;
}

/** Has the pod ended, with the shortest grace that tells the truth about it; nothing is waited for. */
export async function deletePod(api: KubernetesApi, { name, uid }: PodKey, { signal }: CallOptions): Promise<void> {
  const body = { gracePeriodSeconds: graceSeconds, propagationPolicy: "Background", preconditions: { uid } };
  const path = await api.path("pods", name);
  // 409: another pod has the name by now.
  await api.call("remove the pod", { method: "DELETE", path, body, signal }, [404, 409]);
}

/** Has the pod ended, and waits until it is gone: the kubelet lets the object go when nothing of it runs any more. */
export async function removePod(
  api: KubernetesApi,
  key: PodKey,
  { signal, onLook }: CallOptions & { readonly onLook?: (pod: Pod) => void } = {},
): Promise<void> {
  await deletePod(api, key, { signal });
  for (let pod = await readPod(api, key, { signal }); pod !== null; pod = await readPod(api, key, { signal })) {
    onLook?.(pod);
    await sleep(lookMs, undefined, { signal });
  }
}

function coveredFolders(spec: ContainerSpec, { covered }: ManifestOptions): readonly string[] {
  const known = new Set([...memoryFolders(spec).map(({ path }) => path), ...(spec.mounts ?? []).map((m) => m.target)]);
  return covered.filter((path) => !known.has(path));
}

function containerManifest(
  { image, limits, writableRoot }: ContainerSpec,
  options: ManifestOptions,
  volumes: readonly VolumeMount[],
): object {
  const memory = String(limits.memoryBytes);
  return {
    name: containerName,
    ...supervisorManifest(image, options, volumes),
    // No limit of disk: the kubelet logs all of the stream, and would evict a pod for its programs' output.
    resources: {
      limits: { cpu: milliCpus(limits.cpus), memory },
      requests: { cpu: milliCpus(Math.min(limits.cpus, claimedCpus)), memory },
    },
    securityContext: securityContext(writableRoot === undefined),
  };
}

function foldersManifest({ image }: ContainerSpec, options: ManifestOptions, copies: readonly VolumeMount[]): object {
  const { cpus, memoryBytes } = folderLimits;
  return {
    name: foldersContainer,
    ...supervisorManifest(
      image,
      options,
      copies.map(({ name }, index) => ({ name, path: copiedFolder(index) })),
    ),
    resources: {
      limits: { cpu: milliCpus(cpus), memory: String(memoryBytes) },
      requests: { cpu: milliCpus(claimedCpus), memory: String(memoryBytes) },
    },
    securityContext: securityContext(true),
  };
}

function supervisorManifest(image: string, { pullPolicy }: ManifestOptions, volumes: readonly VolumeMount[]): object {
  return {
    image,
    imagePullPolicy: pullPolicy,
    // In place of the image's entry point and command, which have no part in it.
    command: [`${supervisorFolder}/${supervisorFile}`],
    args: [],
    workingDir: "/",
    stdin: true,
    // The end of the connection is the end of the input, and with it of the supervisor.
    stdinOnce: true,
    tty: false,
    volumeMounts: [
      { name: supervisorFile, mountPath: supervisorFolder, readOnly: true },
      ...volumes.map(({ name, path, readOnly = false }) => ({ name, mountPath: path, readOnly })),
    ],
  };
}

function securityContext(readOnlyRootFilesystem: boolean): object {
  return {
    privileged: false,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem,
    capabilities: { drop: ["ALL"] },
  };
}

function milliCpus(count: number): string {
  return `${Math.max(1, Math.round(count * 1000))}m`;
}

function sharedMemoryBytesOf({ sharedMemoryBytes, limits }: ContainerSpec): number {
  return sharedMemoryBytes ?? Math.min(defaultSharedMemoryBytes, Math.floor(limits.memoryBytes / 8));
}

/** Seconds until the cluster ends it by itself. */
function deadlineSeconds({ labels }: ContainerSpec, now: number): number | null {
  const endMs = Date.parse(labels[ownLabels.expiresAt] ?? "");
  return Number.isNaN(endMs) ? null : Math.max(1, Math.ceil((endMs - now) / 1000)) + afterEndSeconds;
}

function terminatedOf(pod: Pod): (Words & { readonly exitCode?: number }) | undefined {
  return statusOf(pod, containerName)?.state?.terminated;
}
