import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { throwIfCancelled, untilCancelled } from "../../base/abort.ts";
import { unknownStats, type ContainerStats } from "../container-stats.ts";
import type { CallOptions, ContainerState, ExecSpec } from "../engine.ts";
import type { ToldStart } from "../supervised/channel/hello.ts";
import { lostError } from "../supervised/container/container-errors.ts";
import type { ContainerStart, EngineContainer } from "../supervised/container/engine-container.ts";
import type { KubernetesApi } from "./kubernetes-api.ts";
import { attachPod, AttachStream, type AttachTarget } from "./attach-pod.ts";
import { engineName, engineTitle } from "./kubernetes-errors.ts";
import {
  foldersOnDisk,
  mountsUnknown,
  noCommit,
  noOtherUser,
  tooManyVariables,
  diskFolders,
  imageVariables,
} from "./pod-terms.ts";
import type { Reach } from "./network-wall.ts";
import { containerName, stateOf, hasEnded, deletePod, readPod, removePod, type Pod, type PodKey } from "./pod.ts";

const lookMs = 150;

export interface PodPlaceParts {
  readonly key: PodKey;
  readonly image: string;
  /** As `AttachTarget.restoreVolumes`. */
  readonly restoreVolumes: AttachTarget["restoreVolumes"];
  /** Puts what the sandbox is given into its folders, before it is attached to. Left out: it is given nothing. */
  readonly fill?: ((sandbox: AttachTarget, options: CallOptions) => Promise<void>) | undefined;
  /** `uid:gid` of all programs. */
  readonly user: string;
  /** Variables of every program beside those of the image. */
  readonly environment: Readonly<Record<string, string>>;
  /** As `injectedVariables`. */
  readonly injected: ReadonlySet<string> | null;
  /** Folders that the pod has in memory. */
  readonly memoryFolders: readonly string[];
  /** Called with folders of the image that its next pods must cover. */
  readonly onVolumes: (folders: readonly string[]) => void;
  /** As `EngineContainer.prove`; the pod is as it is after its start. Left out: nothing is to be shown. */
  readonly prove?: ((reach: Reach, pod: Pod, options: CallOptions) => Promise<void>) | undefined;
  /** Called once the pod is gone. */
  readonly onRemoved: () => void;
}

/** A pod, which lives as long as the connection to its first process. */
export class PodPlace implements EngineContainer {
  readonly engine = { name: engineName, title: engineTitle };
  environment: EngineContainer["environment"];
  readonly #api: KubernetesApi;
  readonly #parts: PodPlaceParts;
  /** As it was last seen; its object goes when it has ended. */
  #seen: Pod | null = null;
  #isStarted = false;
  #isRemoved = false;

  constructor(parts: PodPlaceParts, api: KubernetesApi) {
    this.environment = parts.environment;
    this.#parts = parts;
    this.#api = api;
  }

  get #target(): AttachTarget {
    const onLook = (pod: Pod): void => void (this.#seen = pod);
    return { ...this.#parts, container: containerName, onLook };
  }

  get id(): string {
    return this.#parts.key.name;
  }

  /** @throws UNSUPPORTED for another user than that of the pod */
  async admit({ user }: ExecSpec): Promise<void> {
    if (user !== undefined && user !== this.#parts.user) throw noOtherUser();
  }

  /** If a start is given up, the pod is removed. */
  async start(open: (stream: Duplex) => void, { signal }: CallOptions): Promise<ContainerStart> {
    throwIfCancelled(signal);
    if (this.#isRemoved) throw lostError(engineTitle);
    this.#isStarted = true;
    const stream = new AttachStream();
    try {
      await this.#parts.fill?.(this.#target, { signal });
      open(stream);
      await attachPod(this.#api, this.#target, stream, { signal });
      return { mountsVerified: false };
    } catch (error) {
      stream.destroy();
      if (signal?.aborted === true) await this.remove({});
      throw error;
    }
  }

  async prove(reach: Reach, options: CallOptions): Promise<void> {
    const { prove, key } = this.#parts;
    if (prove === undefined) return;
    const pod = await readPod(this.#api, key, options);
    if (pod === null) throw lostError(engineTitle);
    await prove(reach, pod, options);
  }

  /** @throws UNSUPPORTED where programs could write to the node's disk, and for more variables than are told */
  learnStart({ variables, mounts }: ToldStart): void {
    const { environment, image, injected, memoryFolders, onVolumes } = this.#parts;
    if (variables === null) throw tooManyVariables(image);
    if (mounts === null) throw mountsUnknown();
    const folders = diskFolders(mounts, new Set(memoryFolders));
    if (folders.length > 0) {
      onVolumes(folders);
      throw foldersOnDisk(image, folders);
    }
    this.environment = { ...environment, ...imageVariables(variables, injected) };
  }

  async kill(): Promise<void> {
    await deletePod(this.#api, this.#parts.key, {});
  }

  async wait({ signal }: CallOptions): Promise<void> {
    for (;;) {
      const pod = await readPod(this.#api, this.#parts.key, { signal });
      if (pod === null) return;
      this.#seen = pod;
      if (hasEnded(pod)) return;
      await untilCancelled(sleep(lookMs), signal);
    }
  }

  async inspect(options: CallOptions): Promise<ContainerState> {
    // The pod is there, and its supervisor waits: nothing runs yet.
    if (!this.#isStarted) return stateOf(null);
    const pod = await readPod(this.#api, this.#parts.key, options);
    if (pod !== null) this.#seen = pod;
    const last = pod ?? this.#seen;
    // What was seen to run and is gone has ended.
    return pod === null && last !== null && !hasEnded(last) ? stateOf(null) : stateOf(last);
  }

  /** Only its supervisor sees them. */
  stats(): Promise<ContainerStats> {
    return Promise.resolve(unknownStats);
  }

  writtenBytes(): Promise<null> {
    return Promise.resolve(null);
  }

  writtenFolder(): Promise<null> {
    return Promise.resolve(null);
  }

  commit(): Promise<never> {
    return Promise.reject(noCommit());
  }

  async remove({ signal }: CallOptions): Promise<void> {
    this.#isRemoved = true;
    await removePod(this.#api, this.#parts.key, { signal, onLook: (pod) => (this.#seen = pod) });
    this.#parts.onRemoved();
  }
}
