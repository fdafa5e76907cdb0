import type { EngineSurroundings } from "../engine-surroundings.ts";
import type { Engine, CallOptions, CapabilityOptions, Container, ContainerSummary, EngineProbe } from "../engine.ts";
import {
  readSettings,
  nameForm,
  ownCluster,
  readKubeconfig,
  serviceAccountFolder,
  readConfigText,
  type KubernetesSettings,
  type ClusterAccess,
  type ConfigFile,
} from "./cluster-settings.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { untilCancelled } from "../../base/abort.ts";
import { createId } from "../../base/id.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { defaultLimits } from "../../policy/limits.ts";
import { programUser } from "../../policy/profile.ts";
import type { Capabilities, EngineFinding } from "../capabilities.ts";
import type { ContainerSpec, MountSpec } from "../container-spec.ts";
import { HostUids, farUids } from "../container-users.ts";
import { labels as ownLabels, managed } from "../labels.ts";
import { parseUser } from "../supervised/container/program-request.ts";
import { reachAddress } from "../supervised/container/container-network.ts";
import { SupervisedContainer } from "../supervised/container/supervised-container.ts";
import { supervisorBinary, type SupervisorBinary } from "../supervised/supervisor-binary.ts";
import { uninterrupted } from "../docker-api/container/uninterrupted.ts";
import { unavailableError, unavailabilityOf } from "../unavailability.ts";
import { KubernetesApi, ownerReferences } from "./kubernetes-api.ts";
import { checkCluster } from "./check-cluster.ts";
import { engineName, refusal, shownWords, configFault, noCluster, engineTitle } from "./kubernetes-errors.ts";
import { assertPodPossible, noRuntime, diskFolders, podTerms, kubernetesCapabilities } from "./pod-terms.ts";
import { NetworkWall, type Reach } from "./network-wall.ts";
import { PodImages, type TriedImage } from "./pod-images.ts";
import {
  containerName,
  labelsForSelectors,
  managedBy,
  memoryFolders,
  podManifest,
  readLabels,
  copiedFolder,
  foldersContainer,
  hasEnded,
  injectedVariables,
  statusOf,
  readPod,
  removePod,
  type ManifestOptions,
  type Pod,
  type PodKey,
} from "./pod.ts";
import { PodPlace, type PodPlaceParts } from "./pod-place.ts";
import { ServerLeases, SupervisorObject } from "./server-objects.ts";
import { gibibyte } from "../../base/bytes.ts";
import { tarOfFolder } from "../../base/tar.ts";
import type { SupervisorTerms } from "../supervised/channel/hello.ts";
import { lostError } from "../supervised/container/container-errors.ts";
import { FolderFiles } from "../supervised/folder-files.ts";
import { withSupervisor, type AttachTarget } from "./attach-pod.ts";
import type { Kit } from "../../base/kit.ts";

/** Of one folder, such as all packages of a run. */
const limits = { deadlineMs: 1_800_000, maxEntries: 1_000_000, maxBytes: 64 * gibibyte };

interface FolderCopies {
  readonly folders: readonly MountSpec[];
  readonly terms: SupervisorTerms;
  readonly epoch: number;
}

/**
 * Fills the folders that a pod is given copies of. They are written by a container of the pod that has them writable and runs nothing
 * but a supervisor; it ends here, before anything runs in the sandbox, which has them read-only.
 */
async function copyFolders(
  api: KubernetesApi,
  { folders, terms, epoch }: FolderCopies,
  sandbox: AttachTarget,
  { signal }: CallOptions,
): Promise<void> {
  const target = { ...sandbox, container: foldersContainer };
  await withSupervisor(api, { target, terms, epoch }, { signal }, async (channel) => {
    for (const [index, { source }] of folders.entries()) {
      const files = new FolderFiles(() => channel, { folder: copiedFolder(index), ...terms.programs });
      await files.unpack("", tarOfFolder(source), { ...limits, signal });
    }
  });
}

/** The cluster that the deployment names, or the one that this process runs in. @throws ENGINE_UNAVAILABLE */
export async function findCluster(
  { configFiles, context, namespace }: KubernetesSettings,
  environment: Readonly<Record<string, string>>,
): Promise<ClusterAccess> {
  const files = (await Promise.all(configFiles.map(readConfigFile))).filter((file) => file !== null);
  if (files.length > 0) return readKubeconfig(files, { context, namespace });
  const host = environment["KUBERNETES_SERVICE_HOST"];
  if (host === undefined) throw noCluster();
  const own = await readConfigText(`${serviceAccountFolder}/namespace`).catch(() => "default");
  return ownCluster(host, environment["KUBERNETES_SERVICE_PORT"] ?? "443", namespace ?? own.trim());
}

async function readConfigFile(path: string): Promise<ConfigFile | null> {
  try {
    return { path, text: await readConfigText(path) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    throw configFault(`${path} cannot be read: ${message.slice(0, 200)}`, undefined, error);
  }
}

/** The engine over the cluster that the deployment names. */
export function openKubernetesEngine(surroundings: EngineSurroundings): Engine {
  const { environment, architecture, owner, prebuiltOnly, now, monotonicMs, randomInteger } = surroundings;
  return new KubernetesEngine({
    settings: readSettings(environment, architecture),
    ...{ environment, owner, prebuiltOnly, now, monotonicMs, randomInteger },
  });
}

interface KubernetesEngineOptions extends Pick<Kit, "now" | "monotonicMs"> {
  readonly settings: KubernetesSettings;
  /** Of the host: for a command that gives credentials, and where this process is itself in a pod. */
  readonly environment: Readonly<Record<string, string>>;
  /** As `EngineSurroundings.owner`. */
  readonly owner?: (() => Promise<string>) | undefined;
  readonly prebuiltOnly: boolean;
  /** A random integer, `minimum` included, `maximum` excluded. */
  readonly randomInteger: (minimum: number, maximum: number) => number;
}

/** A pod, and the variables that an admission has put into it, as `injectedVariables`. */
interface MadePod extends PodKey {
  readonly injected: ReadonlySet<string> | null;
}

/** A pod in which nothing of its image runs. */
interface TrialPod {
  readonly reach: Reach;
  /** The pod as its kubelet tells it, up to two seconds after it runs: before, neither its node nor its image may be in it. */
  readonly running: () => Promise<Pod>;
  /** Folders of its image that would lie on the node's disk. */
  readonly volumes: () => Promise<readonly string[]>;
}

interface TrialOptions {
  readonly image: string;
  readonly isDenied: boolean;
  readonly signal: AbortSignal | undefined;
}

const statusLookMs = 100;
/** How long the end of such a pod is waited for. */
const leavesMs = 30_000;
/** After this long a quota no longer counts a pod that is gone: an event of its controller, seen to take a second under load. */
const countedWithinMs = 5_000;

function isFull(error: unknown): boolean {
  return error instanceof GloveboxError && error.errorType === "CAPACITY";
}

/** What pods of this engine differ in, beside their spec. */
type PodTraits = Pick<ManifestOptions, "user" | "isDenied">;
type Prove = NonNullable<PodPlaceParts["prove"]>;

/** Variables of every program beside its own and those of the image. */
const usualEnvironment = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/",
  HOSTNAME: "sandbox",
};

/** The first version whose streams tell the end of input. */
const firstMinor = 30;
/** How long a pull may take. */
const pullMs = 1_800_000;
/** Of a pod that has its image pulled, and nothing runs in. */
const trialLimits = { cpus: 0.1, memoryBytes: 33_554_432, pids: 16 };

/** A cluster: each sandbox is a pod whose first process is the supervisor, reached over its attached stream. */
export class KubernetesEngine implements Engine {
  readonly name = engineName;
  readonly images: PodImages;
  readonly owners: ServerLeases;
  readonly #options: KubernetesEngineOptions;
  readonly #api: KubernetesApi;
  readonly #users: HostUids;
  readonly #binary: SupervisorBinary;
  readonly #supervisor: SupervisorObject;
  /** Null: the deployment accepts the cluster's network. */
  readonly #wall: NetworkWall | null;
  /** Removals of pods that have served their purpose. */
  readonly #leaving = new Set<Promise<void>>();
  /** When a pod was last seen to be gone. */
  #goneAtMs = -Infinity;

  constructor(options: KubernetesEngineOptions) {
    const { settings, environment, owner: server, now, monotonicMs, prebuiltOnly, randomInteger } = options;
    this.#options = options;
    this.#api = new KubernetesApi({ environment, now, findCluster: () => findCluster(settings, environment) });
    this.#users = new HostUids(farUids, randomInteger);
    this.#binary = supervisorBinary(settings.architecture);
    this.#supervisor = new SupervisorObject(this.#api, this.#binary, settings.owner);
    this.owners = new ServerLeases(this.#api, { server, owner: settings.owner, now, monotonicMs });
    this.#wall = settings.acceptsNetwork ? null : new NetworkWall(this.#api, settings.owner);
    this.images = new PodImages({
      prebuiltOnly,
      tryImage: (image, { signal }) => this.#tryImage(image, signal),
    });
  }

  async probe({ signal }: CallOptions = {}): Promise<EngineProbe> {
    try {
      const { version, access } = await this.#examine(signal);
      const capabilities = await this.capabilities();
      const tls = access.isUnverified ? "unverified" : "verified";
      const connection = { kind: "tcp", tls, remote: true, origin: access.origin } as const;
      return { available: true, version, capabilities, setup: { connection } };
    } catch (error) {
      const why = unavailabilityOf(error);
      if (why === null) throw error;
      return { available: false, ...why };
    }
  }

  async capabilities({ signal, ociRuntime }: CapabilityOptions = {}): Promise<Capabilities> {
    await this.#examine(signal);
    if (ociRuntime !== undefined) await this.#assertRuntime(ociRuntime, signal);
    return kubernetesCapabilities(this.#options.settings);
  }

  async create(spec: ContainerSpec, { signal }: CallOptions = {}): Promise<Container> {
    const asked = spec.processUser ?? programUser;
    assertPodPossible(spec, asked);
    const wall = this.#wall;
    const trial = { image: spec.image, isDenied: false, signal };
    await wall?.ready((look) => this.#withTrialPod(trial, async ({ reach, running }) => look(reach, await running())));
    const prove: Prove | undefined = wall === null ? undefined : (reach, pod, given) => wall.prove(reach, pod, given);
    const own = asked === programUser ? this.#users.take() : null;
    const processUser = own === null ? asked : `${own}:${own}`;
    const user = parseUser(processUser);
    try {
      const key = await this.#make(spec, { user, isDenied: true }, signal);
      const { image } = spec;
      const environment = usualEnvironment;
      const onRemoved = (): void => {
        this.#tellGone();
        this.#users.release(own);
      };
      const restoreVolumes = (given: CallOptions): Promise<void> => this.#supervisor.restore(given);
      const terms = podTerms(this.#binary, user, spec);
      const [epoch, firstEpoch] = [this.#options.randomInteger(1, 65_536), this.#options.randomInteger(1, 65_536)];
      const { mounts: folders = [] } = spec;
      const fill: PodPlaceParts["fill"] =
        folders.length === 0
          ? undefined
          : (sandbox, given) => copyFolders(this.#api, { folders, terms, epoch }, sandbox, given);
      const parts: Omit<PodPlaceParts, "key" | "image"> = {
        ...{ user: processUser, environment, prove, restoreVolumes, fill, onRemoved, injected: key.injected },
        memoryFolders: memoryFolders(spec).map(({ path }) => path),
        onVolumes: (paths) => this.images.learnVolumes(image, paths),
      };
      const place = new PodPlace({ key, image, ...parts }, this.#api);
      return new SupervisedContainer({ spec: { ...spec, processUser }, place, terms, firstEpoch });
    } catch (error) {
      this.#users.release(own);
      throw error;
    }
  }

  async list(
    labels: Readonly<Record<string, string>>,
    { signal }: CallOptions = {},
  ): Promise<readonly ContainerSummary[]> {
    const path = await this.#api.path("pods");
    const selected = Object.entries({ ...managedBy, ...labelsForSelectors(labels) });
    const query = { labelSelector: selected.map(([name, value]) => `${name}=${value}`).join(",") };
    const { body } = await this.#api.call("list the pods", { method: "GET", path, query, signal });
    const pods = (body as { readonly items?: readonly Pod[] }).items ?? [];
    return pods
      .map((pod) => ({ pod, own: readLabels(pod.metadata.annotations) }))
      .filter(({ own }) => Object.entries(labels).every(([name, value]) => own[name] === value))
      .map(({ pod, own }) => ({
        id: pod.metadata.name,
        name: pod.metadata.name,
        labels: own,
        running: !hasEnded(pod),
        createdAtMs: Date.parse(pod.metadata.creationTimestamp ?? "") || 0,
        remove: (options) => removePod(this.#api, pod.metadata, options),
      }));
  }

  check({ signal }: CallOptions = {}): Promise<readonly EngineFinding[]> {
    const { settings } = this.#options;
    const limits = defaultLimits.execute;
    const pod = this.#manifest(
      { ...this.#trialSpec("glovebox"), limits },
      { user: parseUser(programUser), isDenied: true },
    );
    return checkCluster(this.#api, { pod, ...settings }, { signal });
  }

  async close(): Promise<void> {
    await Promise.all([this.owners.close(), ...this.#leaving]);
    this.#api.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Asks the pod for all that is asked of one: what its image is, and what it reaches if no sandbox has asked for that yet. */
  #tryImage(image: string, signal: AbortSignal | undefined): Promise<TriedImage> {
    const wall = this.#wall;
    const isDenied = wall?.isReady ?? true;
    return this.#withTrialPod({ image, isDenied, signal }, async ({ reach, running, volumes }) => {
      const pod = await running();
      // If it does not show anything, a sandbox says so by another one.
      if (!isDenied) await wall?.ready((look) => look(reach, pod)).catch(() => undefined);
      return { identity: statusOf(pod, containerName)?.imageID || image, volumes: await volumes() };
    });
  }

  /** Does something with a pod in which nothing of its image runs. Its removal is not waited for before the engine is closed. */
  async #withTrialPod<T>({ image, isDenied, signal }: TrialOptions, work: (pod: TrialPod) => Promise<T>): Promise<T> {
    const user = parseUser(programUser);
    const spec = await this.#ownTrial(image);
    const key = await this.#make(spec, { user, isDenied }, signal);
    try {
      const restoreVolumes = (): Promise<void> => this.#supervisor.restore({ signal });
      const target = { key, image, container: containerName, restoreVolumes };
      const epoch = this.#options.randomInteger(1, 65_536);
      const place = { target, terms: podTerms(this.#binary, user, spec), epoch };
      const own = new Set(memoryFolders(spec).map(({ path }) => path));
      return await withSupervisor(this.#api, place, { signal }, (channel) =>
        work({
          reach: (to) => reachAddress(channel, to),
          running: () => this.#untilRunning(key, signal),
          volumes: async () => diskFolders((await channel.started()).mounts ?? [], own),
        }),
      );
    } finally {
      // One that cannot be removed has ended with its stream; a sweep removes it after its hard end.
      const left: Promise<void> = removePod(this.#api, key, { signal: AbortSignal.timeout(leavesMs) })
        .then(
          () => this.#tellGone(),
          () => undefined,
        )
        .finally(() => this.#leaving.delete(left));
      this.#leaving.add(left);
    }
  }

  /** @throws SANDBOX_LOST */
  async #untilRunning(key: PodKey, signal: AbortSignal | undefined): Promise<Pod> {
    for (;;) {
      const pod = await readPod(this.#api, key, { signal });
      if (pod === null || hasEnded(pod)) throw lostError(engineTitle);
      if (statusOf(pod, containerName)?.state?.running !== undefined) return pod;
      await untilCancelled(sleep(statusLookMs), signal);
    }
  }

  /** What is made when its caller has gone meanwhile is removed. */
  async #make(spec: ContainerSpec, given: PodTraits, signal: AbortSignal | undefined): Promise<MadePod> {
    const [owner, path] = await Promise.all([
      ownerReferences(this.#api, this.#options.settings.owner, { signal }),
      this.#api.path("pods"),
      this.#supervisor.ready(),
    ]);
    const body = this.#manifest(spec, { ...given, owner });
    return uninterrupted(
      async () => {
        const create = { method: "POST", path, body } as const;
        const answer = await this.#whereOthersLeave(() => this.#api.call("create a pod", create));
        const pod = answer.body as unknown as Pod;
        const { name, uid } = pod.metadata;
        return { name, uid, injected: injectedVariables(pod) };
      },
      (key) => removePod(this.#api, key),
      signal,
    );
  }

  #tellGone(): void {
    this.#goneAtMs = this.#options.monotonicMs();
  }

  /** For a quota pods count until they are gone, and those that are gone until its controller has counted again. */
  async #whereOthersLeave<T>(make: () => Promise<T>): Promise<T> {
    const { monotonicMs } = this.#options;
    try {
      return await make();
    } catch (error) {
      const hasCounted = monotonicMs() - this.#goneAtMs >= countedWithinMs;
      if (!isFull(error) || (hasCounted && this.#leaving.size === 0)) throw error;
      await Promise.all(this.#leaving);
    }
    for (const untilMs = monotonicMs() + countedWithinMs; ; await sleep(statusLookMs)) {
      try {
        return await make();
      } catch (error) {
        if (!isFull(error) || monotonicMs() >= untilMs) throw error;
      }
    }
  }

  #manifest(spec: ContainerSpec, given: PodTraits & Partial<Pick<ManifestOptions, "owner">>): object {
    const { settings, prebuiltOnly, now } = this.#options;
    return podManifest(spec, {
      covered: this.images.volumesOf(spec.image),
      ...{ owner: {}, ...given, architecture: settings.architecture, configMap: this.#supervisor.name },
      ...{ pullPolicy: prebuiltOnly ? "Never" : "IfNotPresent", pullSecrets: settings.pullSecrets, now: now() },
    });
  }

  /** RuntimeClasses belong to the whole cluster, and who may only make pods cannot list them. @throws UNSUPPORTED */
  async #assertRuntime(name: string, signal: AbortSignal | undefined): Promise<void> {
    if (!nameForm.test(name)) throw noRuntime(name, "it is no name of Kubernetes");
    const spec = { ...this.#trialSpec("glovebox-trial"), ociRuntime: name };
    const body = this.#manifest(spec, { user: parseUser(programUser), isDenied: true });
    const path = await this.#api.path("pods");
    const attempt = { method: "POST", path, body, signal, query: { dryRun: "All" } } as const;
    const answer = await this.#api.call("try the RuntimeClass", attempt, [403]);
    if (answer.status !== 403) return;
    const words = shownWords(answer.body["message"]);
    throw /RuntimeClass/.test(words) ? noRuntime(name, words) : refusal("try the RuntimeClass", answer);
  }

  /** Of a pod that is really made: a sweep removes it if this server is gone before it does. */
  async #ownTrial(image: string): Promise<ContainerSpec> {
    const spec = this.#trialSpec(image);
    const owner = await this.#options.owner?.();
    return owner === undefined ? spec : { ...spec, labels: { ...spec.labels, [ownLabels.owner]: owner } };
  }

  #trialSpec(image: string): ContainerSpec {
    const sandbox = createId("sbx");
    const endMs = this.#options.now() + pullMs;
    const labels = {
      ...managed,
      [ownLabels.sandbox]: sandbox,
      [ownLabels.expiresAt]: new Date(endMs).toISOString(),
    };
    return { name: `glovebox-${sandbox}`, image, labels, limits: trialLimits, scratch: [] };
  }

  async #examine(
    signal: AbortSignal | undefined,
  ): Promise<{ readonly version: string; readonly access: ClusterAccess }> {
    const { access } = await this.#api.connection();
    const { body } = await this.#api.call("tell its version", { method: "GET", path: "/version", signal });
    const told = body["gitVersion"];
    const version = typeof told === "string" ? told : "";
    const minor = /^v1\.(\d{1,4})\b/.exec(version)?.[1];
    if (minor === undefined || Number(minor) < firstMinor) {
      const reason = `Kubernetes ${version} is too old: Glovebox needs 1.${firstMinor} or newer.`;
      throw unavailableError(engineName, { reason, howToStart: "Upgrade the cluster, or name another one." });
    }
    // What a server without the rights that it needs would find out at its first sandbox.
    const path = await this.#api.path("pods");
    await this.#api.call("list pods", { method: "GET", path, query: { limit: "1" }, signal });
    return { version, access };
  }
}
