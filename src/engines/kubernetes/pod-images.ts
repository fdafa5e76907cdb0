import { setTimeout as sleep } from "node:timers/promises";
import { throwIfCancelled } from "../../base/abort.ts";
import type { CallOptions, ImageStore, ImageSummary, PullOptions } from "../engine.ts";
import { imageUnavailable } from "../image-errors.ts";
import { noBuild, noRemoval } from "./kubernetes-refusals.ts";
import { containerName } from "./pod-manifest.ts";
import type { Pod } from "./pod-status.ts";
import { startFailure } from "./pod-status.ts";

/** A pod that does nothing but have its image pulled. */
export interface TrialPod extends AsyncDisposable {
  read(options: CallOptions): Promise<Pod | null>;
  /** Folders of its image that would lie on the node's disk; asked once it runs. */
  volumes(options: CallOptions): Promise<readonly string[]>;
}

export interface PodImagesParts {
  /** Whether none may be pulled: an image that is missing is told of at the start. */
  readonly prebuiltOnly: boolean;
  readonly tryImage: (image: string, options: CallOptions) => Promise<TrialPod>;
}

const lookMs = 200;

/**
 * The cluster's images. Its nodes do not tell who may only make pods what they have: an image is there when a pod of this server has
 * had it.
 */
export class PodImages implements ImageStore {
  readonly #parts: PodImagesParts;
  /** What each name led to when it was last seen. */
  readonly #identities = new Map<string, string>();
  readonly #volumes = new Map<string, readonly string[]>();

  constructor(parts: PodImagesParts) {
    this.#parts = parts;
  }

  /** Folders that the image declares as volumes, as far as its pods have shown them. */
  volumesOf(reference: string): readonly string[] {
    return this.#volumes.get(reference) ?? [];
  }

  /** Has them covered in the next pods of the image. */
  learnVolumes(reference: string, folders: readonly string[]): void {
    this.#volumes.set(reference, [...new Set([...this.volumesOf(reference), ...folders])]);
  }

  async has(reference: string, { signal }: CallOptions = {}): Promise<boolean> {
    throwIfCancelled(signal);
    return this.#parts.prebuiltOnly || this.#identities.has(reference);
  }

  async identity(reference: string, { signal }: CallOptions = {}): Promise<string> {
    throwIfCancelled(signal);
    const known = this.#identities.get(reference);
    if (known !== undefined) return known;
    if (!this.#parts.prebuiltOnly) throw imageUnavailable(reference, "no pod has had it yet");
    await this.#try(reference, { signal });
    return this.#identities.get(reference) ?? reference;
  }

  async pull(reference: string, { signal, onProgress }: PullOptions = {}): Promise<void> {
    onProgress?.({ status: "a node pulls it", currentBytes: null, totalBytes: null });
    await this.#try(reference, { signal });
  }

  build({ reference }: { readonly reference: string }): Promise<never> {
    return Promise.reject(noBuild(reference));
  }

  remove(reference: string): Promise<never> {
    return Promise.reject(noRemoval(reference));
  }

  /** Not told by the cluster: nothing of ours is among its images. */
  async labels(reference: string, options: CallOptions = {}): Promise<Readonly<Record<string, string>>> {
    await this.identity(reference, options);
    return {};
  }

  async list(
    _labels: Readonly<Record<string, string>>,
    { signal }: CallOptions = {},
  ): Promise<readonly ImageSummary[]> {
    throwIfCancelled(signal);
    return [];
  }

  async #try(reference: string, { signal }: CallOptions): Promise<void> {
    throwIfCancelled(signal);
    await using trial = await this.#parts.tryImage(reference, { signal });
    for (;;) {
      const pod = await trial.read({ signal });
      if (pod === null) throw imageUnavailable(reference, "the pod that tried it was removed");
      const container = pod.status?.containerStatuses?.find(({ name }) => name === containerName);
      if (container?.state?.running !== undefined) {
        this.#volumes.set(reference, await trial.volumes({ signal }));
        this.#identities.set(reference, container.imageID || reference);
        return;
      }
      const failure = startFailure(pod, { image: reference, container: containerName });
      if (failure !== null) throw failure;
      await sleep(lookMs, undefined, { signal });
    }
  }
}
