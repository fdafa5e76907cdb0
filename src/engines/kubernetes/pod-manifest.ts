import { mebibyte } from "../../base/bytes.ts";
import { labels as ownLabels } from "../labels.ts";
import type { ContainerSpec, ScratchSpec } from "../container-spec.ts";
import type { UserAndGroup } from "../supervised/channel/hello.ts";
import type { OwnerReferences } from "./owner.ts";
import { supervisorFolder } from "../supervised/supervisor-binary.ts";

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
export const graceSeconds = 1;
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

function coveredFolders(spec: ContainerSpec, { covered }: ManifestOptions): readonly string[] {
  const known = new Set([...memoryFolders(spec).map(({ path }) => path), ...(spec.mounts ?? []).map((m) => m.target)]);
  return covered.filter((path) => !known.has(path));
}

interface VolumeMount {
  readonly name: string;
  readonly path: string;
  readonly readOnly?: boolean;
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
